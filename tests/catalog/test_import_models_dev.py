"""models.dev's file: each oddity of it once, in a sample written for it."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router_service.catalog.importing import Imported, Owners, UnreadableSource, import_models_dev, write_yaml
from tests.catalog.importing import DATA, RATE, assert_balanced, by_id, left_out, names, sample_owners

SOURCE = (DATA / "models_dev_sample.json").read_bytes()


@pytest.fixture(scope="module")
def imported() -> Imported:
    return import_models_dev(SOURCE, owners=sample_owners(), rate=RATE, currency="EUR")


# What becomes of a row: some of its endpoint's facts; None says that a fact is not documented.
FACTS: dict[str, dict[str, Any]] = {
    "acme/Acme-Large": {
        "model": "acme-large",
        "provider": "acme",
        "country": "EU",
        "sovereignty": "eu-owned",
        "region": None,
        "kind": "hosted",
        "status": "up",
        "model_type": "text",
        "input_modalities": ["text", "image", "file"],
        "context_window": 400000,
        "max_output_tokens": 128000,
        "input_price": Decimal("2.3"),
        "output_price": Decimal("13.8"),
        "tags": ["reasoning"],
        "tools": True,
        "structured_output": "json-schema",
        "model_version": None,
        "retires_at": None,
    },
    "acme/acme-free": {
        "input_price": Decimal(0),
        "output_price": Decimal(0),
        "tools": False,
        "tags": None,
        "structured_output": None,
    },
    "acme/acme-unpriced": {"input_price": None, "output_price": None, "context_window": None, "status": "up"},
    "acme/acme-thinker": {
        "input_price": Decimal("0.11358"),
        "output_price": Decimal("0.368"),
        "context_window": 32768,
        "max_output_tokens": 65536,
    },
    "acme/acme-hears": {"input_modalities": ["text", "audio"], "input_price": None, "output_price": Decimal("0.46")},
    "acme/acme/text-embedding-2": {"model": "text-embedding-2", "model_type": "embedding"},
    "acme/all-small-v2": {"model_type": "embedding"},
    "acme/acme-reranker-base": {"model_type": "reranker"},
    "acme/acme-asr": {"model_type": "speech", "input_modalities": ["audio"]},
    "acme/acme-voice": {"model_type": "speech"},
    "acme/acme-image-1": {"model_type": "image"},
    "acme/acme-chat-and-paint": {"model_type": "text"},
    "acme/acme-film": {"model_type": "other"},
    "amazon-bedrock/eu.anthropic.claude-x-20250219-v1:0": {
        "model": "claude-x-20250219",
        "region": "eu",
        "country": "EU",
        "sovereignty": "eu-hosted",
    },
    "amazon-bedrock/anthropic.claude-x-20250219-v1:0": {
        "model": "claude-x-20250219",
        "region": None,
        "country": None,
        "sovereignty": None,
    },
    "google-vertex/claude-x@20250219": {"model": "claude-x-20250219", "model_version": "20250219"},
    "scaleway/small-24b-instruct": {"region": "fr-par", "country": "FR", "sovereignty": "eu-owned"},
}


@pytest.mark.parametrize(("endpoint_id", "facts"), FACTS.items())
def test_facts_are_carried_as_they_are(imported: Imported, endpoint_id: str, facts: dict[str, Any]) -> None:
    endpoint = by_id(imported)[endpoint_id]
    assert {name: endpoint.get(name) for name in facts} == facts


def test_every_row_is_accounted_for(imported: Imported) -> None:
    assert_balanced(imported)
    assert imported.report.rows_imported == imported.report.endpoints == len(FACTS)
    assert left_out(imported.report) == {
        "pool_name": ["acme/acme/auto"],
        "price_not_per_token": ["acme/acme-listens"],
        "price_out_of_range": ["acme/acme-negative"],
        # A provider without readable models counts as one row.
        "malformed": ["acme/acme-limit-list", "acme/acme-nothing", "acme/acme-priced-as-text", "broken", "broken-too"],
    }


@pytest.mark.parametrize(
    ("reason", "row_ids"),
    [
        ("price_rounded", ["acme/acme-thinker"]),
        ("zero_price_left_out", ["acme/acme-hears"]),
        ("tier_ignored", ["acme/Acme-Large"]),
        ("reasoning_price_ignored", ["acme/acme-thinker"]),
        ("zero_limit_left_out", ["acme/acme-unpriced"]),
        ("input_limit_ignored", ["acme/Acme-Large"]),
        (
            "type_from_id",
            [
                "acme/acme-asr",
                "acme/acme-image-1",
                "acme/acme-reranker-base",
                "acme/acme/text-embedding-2",
                "acme/all-small-v2",
            ],
        ),
        ("modality_ignored", ["acme/acme-hears"]),
        ("deprecated_without_date", ["acme/acme-unpriced"]),
        ("provider_not_in_owners", []),
    ],
)
def test_what_was_changed_is_counted_by_row(imported: Imported, reason: str, row_ids: list[str]) -> None:
    tally = imported.report.changed[reason]
    assert (tally.count, sorted(tally.examples)) == (len(row_ids), row_ids)


def test_every_id_of_the_file_names_its_model(imported: Imported) -> None:
    known = names(imported)
    for endpoint_id, endpoint in by_id(imported).items():
        for asked in (endpoint_id, endpoint_id.partition("/")[2]):
            found = known.resolve(asked.lower())
            assert found is not None, asked
            assert found.slug == endpoint["model"]


def test_gzip_gives_the_same(imported: Imported) -> None:
    packed = import_models_dev(gzip.compress(SOURCE), owners=sample_owners(), rate=RATE, currency="EUR")
    assert write_yaml(packed, source_name="s") == write_yaml(imported, source_name="s")


def test_a_key_given_twice_is_counted() -> None:
    source = b'{"a": {"models": {}}, "a": {"models": {"m": {}, "n": {}, "m": {}}}, "": {"models": {"m": {}}}}'
    imported = import_models_dev(source, owners=Owners(), rate=Decimal(1), currency="USD")
    assert_balanced(imported)
    assert left_out(imported.report) == {"duplicate_id": ["a", "a/m"], "no_provider": ["/m"]}
    assert [endpoint["endpoint_id"] for endpoint in imported.endpoints] == ["a/m", "a/n"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"modalities": "text"},
        {"modalities": {"input": "text"}},
        {"modalities": {"output": [None]}},
        {"limit": {"context": "8k"}},
        {"limit": {"input": []}},
        {"cost": 3},
        {"cost": {"output": "1"}},
        {"cost": {"reasoning": "1"}},
        {"reasoning": "no"},
        {"tool_call": 1},
        {"structured_output": "yes"},
        {"family": 3},
        {"status": False},
    ],
)
def test_a_value_of_the_wrong_type_leaves_the_row_out(wrong: dict[str, Any]) -> None:
    source = json.dumps({"acme": {"models": {"m": wrong}}}).encode()
    imported = import_models_dev(source, owners=Owners(), rate=Decimal(1), currency="USD")
    assert_balanced(imported)
    assert left_out(imported.report) == {"malformed": ["acme/m"]}


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (b"", "not JSON"),
        (b'"text"', "a str, not an object"),
        (b"{}", "no provider has models"),
        ((DATA / "litellm_sample.json").read_bytes(), "no provider has models"),
        (gzip.compress(SOURCE)[:-20], "ends too early"),
        (gzip.compress(SOURCE)[:40] + b"damage" * 9, "gzip"),
    ],
)
def test_a_file_of_another_format_is_refused_with_a_cure(source: bytes, says: str) -> None:
    with pytest.raises(UnreadableSource, match=says) as refused:
        import_models_dev(source, owners=Owners(), rate=Decimal(1), currency="USD")
    assert "models.dev's api.json" in str(refused.value)


FIELDS = (
    *("modalities", "limit", "cost", "family", "status", "reasoning", "tool_call", "structured_output", "models"),
    *("input", "output", "context", "tiers", "context_over_200k", "input_audio"),
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["text", "chat", "eu", "a/b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
    max_leaves=12,
)


@given(key=st.text(max_size=8), row=st.dictionaries(st.sampled_from(FIELDS), VALUES) | VALUES)
def test_no_content_of_a_row_breaks_the_import(key: str, row: Any) -> None:
    source = json.dumps({"acme": {"models": {key: row}}, key: row, "google": {"models": {"m": row}}}).encode()
    assert_balanced(import_models_dev(source, owners=sample_owners(), rate=RATE, currency="EUR"))
