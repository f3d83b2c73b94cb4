"""LiteLLM's file: each oddity of it once, in a sample written for it."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router_service.catalog.importing import Imported, Owners, Report, UnreadableSource, import_litellm
from router_service.catalog.importing.aliases import Claim, aliases_of
from router_service.domain.problems import InvalidValue
from tests.catalog.importing import DATA, RATE, assert_balanced, by_id, left_out, names, sample_owners

SOURCE = (DATA / "litellm_sample.json").read_bytes()


@pytest.fixture(scope="module")
def imported() -> Imported:
    return import_litellm(SOURCE, owners=sample_owners(), rate=RATE, currency="EUR")


def one(entry: dict[str, Any] | str, key: str = "acme/m", rate: str = "1") -> Imported:
    """The import of one entry, beside another that makes the file LiteLLM's."""
    text = entry if isinstance(entry, str) else json.dumps(entry)
    source = f'{{{json.dumps(key)}: {text}, "z": {{"litellm_provider": "z", "mode": "chat"}}}}'
    return import_litellm(source.encode(), owners=Owners(), rate=Decimal(rate), currency="USD")


CHAT = {"litellm_provider": "acme", "mode": "chat"}

# What becomes of a row: some of its endpoint's facts; None says that a fact is not documented.
FACTS: dict[str, dict[str, Any]] = {
    "acme-large": {
        "model": "acme-large",
        "provider": "acme",
        "kind": "hosted",
        "status": "up",
        "model_type": "text",
        "input_modalities": ["text", "image", "file"],
        "context_window": 200000,
        "max_output_tokens": 8192,
        "input_price": Decimal("2.3"),
        "output_price": Decimal("9.2"),
        "tags": ["reasoning"],
        "tools": True,
        "structured_output": "json-schema",
        "model_version": None,
        "vendor": None,
        "parameters_b": None,
        "retires_at": None,
    },
    "resale/acme-large": {
        "model": "acme-large",
        "input_price": Decimal("2.76"),
        "context_window": 128000,
        "tools": False,
    },
    "acme/free-8b": {"input_price": Decimal(0), "output_price": Decimal(0), "tools": None, "tags": None},
    "acme/unpriced:20b": {
        "model": "unpriced:20b",
        "input_price": None,
        "output_price": None,
        "context_window": None,
        "structured_output": "json-schema",
    },
    "acme/rounded": {"input_price": Decimal("0.11358"), "output_price": Decimal("2.76")},
    "acme/long-answer": {"context_window": 8192, "max_output_tokens": 16384},
    "acme/zero-window": {"context_window": None, "max_output_tokens": None},
    "acme/retired-2023": {"retires_at": "2023-09-30", "status": "up"},
    "acme/retired-someday": {"retires_at": None},
    "acme/by-length": {"input_price": Decimal("0.92"), "output_price": Decimal("3.68")},
    "acme/tiers-only": {"input_price": Decimal("0.046"), "output_price": Decimal("0.368")},
    "acme/eu-costs-more": {"input_price": Decimal("1.84"), "output_price": Decimal("7.36")},
    "acme/seen-heard": {"input_modalities": ["text", "audio", "video"]},
    "acme/per-request": {"input_price": None, "output_price": Decimal("0.92")},
    "acme/per-video-second": {"input_price": None, "output_price": Decimal("6.9"), "model_type": "text"},
    "1024-x-1024/50-steps/stability.stable-diffusion-xl-v1": {
        "model": "stable-diffusion-xl-v1",
        "model_type": "image",
        "input_price": None,
        "input_modalities": None,
    },
    "acme/lyre": {"model_type": "speech"},
    "gateway/acme/acme-embed-v2": {"model_type": "embedding"},
    "acme/vectors": {"model_type": "embedding", "output_price": Decimal(0), "input_modalities": ["text"]},
    "acme/ranks": {"model_type": "reranker", "input_price": None, "output_price": None},
    "acme/ears": {"model_type": "speech"},
    "acme/filter": {"model_type": "moderation"},
    "acme/film": {"model_type": "other"},
    "acme/pages": {"model_type": "other"},
    "bedrock/eu-central-1/meta.llama9-8b-instruct-v1:0": {
        "model": "llama9-8b-instruct",
        "region": "eu-central-1",
        "country": "DE",
        "sovereignty": "eu-hosted",
    },
    "bedrock/eu-west-2/meta.llama9-8b-instruct-v1:0": {
        "model": "llama9-8b-instruct",
        "region": "eu-west-2",
        "country": "GB",
        "sovereignty": "global",
    },
    "eu.anthropic.claude-x-20250219-v2:0": {
        "model": "claude-x-20250219",
        "region": "eu",
        "country": "EU",
        "sovereignty": "eu-hosted",
    },
    "apac.anthropic.claude-x-20250219-v2:0": {"region": "apac", "country": None, "sovereignty": "global"},
    "vertex_ai/claude-x@20250219": {"model": "claude-x-20250219", "model_version": "20250219", "region": None},
    "vertex_ai/claude-x@default": {"model": "claude-x", "model_version": None, "sovereignty": None},
    "vertex_ai/mistralai/codestral-9@001": {"model": "codestral-9@001", "model_version": "001"},
    "bedrock/eu-north-1/deepseek.v3.2": {"model": "deepseek-v3.2", "country": "SE"},
    "anthropic.claude-v2:1": {"model": "claude-v2:1", "region": None, "sovereignty": None},
    "azure/eu/gpt-x-2026-01-31": {"model": "gpt-x-2026-01-31", "region": "eu", "sovereignty": "eu-hosted"},
    "azure/global/gpt-x-2026-01-31": {"model": "gpt-x-2026-01-31", "region": "global", "sovereignty": "global"},
    "vertex_ai/wide-70b-maas@global": {"model": "wide-70b-maas", "region": "global", "sovereignty": "global"},
    "vertex_ai/wide-70b-maas@europe-west4": {"region": "europe-west4", "country": "NL", "sovereignty": "eu-hosted"},
    "vertex_ai/far-70b-maas": {"region": "mars-north1", "country": None, "sovereignty": None},
    "scaleway/small-24b-instruct": {"region": "fr-par", "country": "FR", "sovereignty": "eu-owned"},
    "fireworks_ai/accounts/fireworks/models/small-24b-instruct": {"model": "small-24b-instruct", "sovereignty": None},
}


@pytest.mark.parametrize(("endpoint_id", "facts"), FACTS.items())
def test_facts_are_carried_as_they_are(imported: Imported, endpoint_id: str, facts: dict[str, Any]) -> None:
    endpoint = by_id(imported)[endpoint_id]
    assert {name: endpoint.get(name) for name in facts} == facts


def test_every_row_is_accounted_for(imported: Imported) -> None:
    assert_balanced(imported)
    assert imported.report.rows_read == len(json.loads(SOURCE))
    assert imported.report.endpoints == imported.report.rows_imported + 1
    assert left_out(imported.report) == {
        "not_a_model_entry": ["rules_of_names", "sample_spec"],
        "alias_entry": ["acme-latest", "other/acme-latest"],
        "no_provider": ["acme/nobody"],
        "no_mode": ["acme-up-to-8b"],
        "bad_id": ["acme/", "acme/größer"],
        "pool_name": ["routers/auto"],
        "price_not_per_token": ["acme/per-image", "bedrock/*/1-month-commitment/cohere.command-text-v14"],
        "price_out_of_range": ["acme/absurd", "acme/negative"],
        "malformed": ["acme/flag-as-text", "acme/list", "acme/price-as-flag", "acme/window-as-text"],
    }


@pytest.mark.parametrize(
    ("reason", "row_ids"),
    [
        ("price_rounded", ["acme/rounded"]),
        ("zero_price_left_out", ["acme/per-request", "acme/ranks"]),
        ("tier_ignored", ["acme/by-length", "acme/tiers-only"]),
        ("reasoning_price_ignored", ["acme/thinker"]),
        ("eu_surcharge_ignored", ["acme/eu-costs-more"]),
        ("other_surcharge_ignored", ["acme/eu-costs-more"]),
        ("zero_limit_left_out", ["acme/zero-window"]),
        ("type_from_id", ["acme/lyre", "gateway/acme/acme-embed-v2"]),
        ("modality_ignored", ["acme/seen-heard"]),
        ("date_unreadable", ["acme/retired-someday"]),
        ("expanded", ["vertex_ai/wide-70b-maas"]),
        ("region_not_located", ["vertex_ai/far-70b-maas"]),
        ("provider_not_in_owners", ["fireworks_ai/accounts/fireworks/models/small-24b-instruct"]),
    ],
)
def test_what_was_changed_is_counted_by_row(imported: Imported, reason: str, row_ids: list[str]) -> None:
    tally = imported.report.changed[reason]
    assert (tally.count, sorted(tally.examples)) == (len(row_ids), row_ids)


def test_rows_without_a_price_per_token_never_look_free(imported: Imported) -> None:
    free = [
        endpoint["endpoint_id"]
        for endpoint in imported.endpoints
        if endpoint.get("input_price") == 0 or (endpoint["model_type"] == "text" and endpoint.get("output_price") == 0)
    ]
    assert free == ["acme/free-8b"]


def test_every_id_of_the_file_names_its_model(imported: Imported) -> None:
    known = names(imported)
    for endpoint_id, endpoint in by_id(imported).items():
        found = known.resolve(endpoint_id.lower().removesuffix("@global").removesuffix("@europe-west4"))
        assert found is not None, endpoint_id
        assert found.slug == endpoint["model"]


def test_aliases_are_few_and_each_means_one_model(imported: Imported) -> None:
    assert {model["model"]: model["aliases"] for model in imported.models if "aliases" in model} == {
        "claude-x-20250219": ["claude-x@20250219", "vertex_ai/claude-x@20250219"],
        "codestral-9@001": ["vertex_ai/mistralai/codestral-9@001"],
        "deepseek-v3.2": ["deepseek.v3.2"],
    }
    assert imported.report.aliases_dropped.count == 0


def test_an_alias_that_would_mean_two_models_is_dropped_and_counted() -> None:
    report = Report()
    claims = [
        Claim("a/x@1", "x@1", "one"),
        Claim("b/x@1", "x@1", "two"),
        Claim("c/y@1", "one", "two"),  # a slug
        Claim("d/z@1", "z@1", "three"),
        Claim("three", "three", "three"),
    ]
    assert aliases_of(claims, report) == {"one": {"a/x@1"}, "two": {"b/x@1", "c/y@1"}, "three": {"d/z@1", "z@1"}}
    assert report.aliases_dropped.examples == ["one", "x@1"]


def test_a_model_has_the_type_of_most_of_its_endpoints() -> None:
    rows = {
        f"{number}/m": {"litellm_provider": "p", "mode": mode} for number, mode in enumerate(("ocr", "chat", "chat"))
    }
    imported = import_litellm(json.dumps(rows).encode(), owners=Owners(), rate=Decimal(1), currency="USD")
    assert imported.models == [{"model": "m", "model_type": "text"}]
    assert [endpoint["model_type"] for endpoint in imported.endpoints] == ["other", "text", "text"]


@pytest.mark.parametrize(
    ("amount", "rate", "price", "rounded"),
    [
        ("1e-06", "0.92", "0.92", False),
        ("0.0000005000005", "1", "0.5", True),  # ties go to the even digit
        ("0.0000005000015", "1", "0.500002", True),
        ("1.5e-07", "1.0000003", "0.15", True),
        ("0.01", "1", "10000", False),
        ("1e-999999999", "1", "0", True),
        ("0.00000100000000000000000000000000000000000000000001", "1", "1", True),
    ],
)
def test_prices_are_exact_until_the_last_step(amount: str, rate: str, price: str, rounded: bool) -> None:
    imported = one(f'{{"litellm_provider": "a", "mode": "chat", "input_cost_per_token": {amount}}}', rate=rate)
    assert by_id(imported)["acme/m"]["input_price"] == Decimal(price)
    assert imported.report.changed["price_rounded"].count == rounded


@pytest.mark.parametrize(
    "amount", ["-1e-09", "NaN", "Infinity", "-Infinity", "0.010000001", "1e400", "1e99999999999999999999", "9" * 5000]
)
def test_a_price_out_of_range_leaves_the_row_out(amount: str) -> None:
    imported = one(f'{{"litellm_provider": "a", "mode": "chat", "output_cost_per_token": {amount}}}')
    assert left_out(imported.report) == {"price_out_of_range": ["acme/m"]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"litellm_provider": 7},
        {"mode": ["chat"]},
        {"max_input_tokens": -1},
        {"max_input_tokens": 1.5},
        {"max_input_tokens": 10**9},
        {"max_output_tokens": "many"},
        {"input_cost_per_token": "0.1"},
        {"supports_reasoning": 1},
        {"supports_response_schema": "yes"},
        {"supported_regions": "eu"},
        {"supported_modalities": [1]},
        {"deprecation_date": 20270101},
        {"tiered_pricing": [1]},
        {"tiered_pricing": {"range": [0, 1]}},
        {"alias_of": ["m"]},
        {"litellm_provider": "x" * 300},
        {"litellm_provider": "bell\u0007"},
        {"litellm_provider": "half\ud800"},
        {"supported_regions": ["half\ud800"]},
    ],
)
def test_a_value_of_the_wrong_type_leaves_the_row_out(wrong: dict[str, Any]) -> None:
    imported = one(CHAT | wrong)
    assert_balanced(imported)
    assert left_out(imported.report) == {"malformed": ["acme/m"]}


@pytest.mark.parametrize("entry", ["null", "7", '"text"', "[]", "true"])
def test_an_entry_that_is_no_object_leaves_the_row_out(entry: str) -> None:
    assert left_out(one(entry).report) == {"malformed": ["acme/m"]}


@pytest.mark.parametrize("key", ["", " ", "acme/ ", " m", "m\n", "x" * 257, "größe", "p/", "@", "\ud800"])
def test_an_id_that_no_request_could_carry_leaves_the_row_out(key: str) -> None:
    imported = one(CHAT, key=key)
    assert_balanced(imported)
    assert imported.report.left_out["bad_id"].count == (key != "@")


def test_a_key_given_twice_is_counted() -> None:
    source = b'{"m": {"litellm_provider": "a", "mode": "chat"}, "m": {"litellm_provider": "b", "mode": "chat"}}'
    imported = import_litellm(source, owners=Owners(), rate=Decimal(1), currency="USD")
    assert_balanced(imported)
    assert left_out(imported.report) == {"duplicate_id": ["m"]}
    assert [endpoint["provider"] for endpoint in imported.endpoints] == ["b"]


def test_an_expanded_row_never_takes_the_id_of_another() -> None:
    rows = {
        "vertex_ai/m@global": {"litellm_provider": "vertex_ai", "mode": "chat"},
        "vertex_ai/m": {"litellm_provider": "vertex_ai", "mode": "chat", "supported_regions": ["global", "us-east1"]},
    }
    imported = import_litellm(json.dumps(rows).encode(), owners=Owners(), rate=Decimal(1), currency="USD")
    assert_balanced(imported)
    assert left_out(imported.report) == {"duplicate_id": ["vertex_ai/m"]}


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (b"", "not JSON"),
        (b"model,price\n", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[1, 2]", "a list, not an object"),
        (b"{}", "litellm_provider"),
        (b'{"acme": {"models": {}}}', "litellm_provider"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\x1f\x8b\x08garbage", "damaged gzip"),
    ],
)
def test_a_file_of_another_format_is_refused_with_a_cure(source: bytes, says: str) -> None:
    with pytest.raises(UnreadableSource, match=says) as refused:
        import_litellm(source, owners=Owners(), rate=Decimal(1), currency="USD")
    assert (
        "give LiteLLM's" in str(refused.value) or "give the file" in str(refused.value) or "fetch" in str(refused.value)
    )


@pytest.mark.parametrize("rate", ["0", "-1", "NaN", "Infinity", "1000001"])
def test_a_rate_that_makes_no_sense_is_refused(rate: str) -> None:
    with pytest.raises(InvalidValue, match=r"rate.*USD=0\.92"):
        import_litellm(SOURCE, owners=Owners(), rate=Decimal(rate), currency="EUR")


@pytest.mark.parametrize("currency", ["", "EU", "EURO", "E1R", "€€€"])
def test_a_currency_that_makes_no_sense_is_refused(currency: str) -> None:
    with pytest.raises(InvalidValue, match="ISO 4217"):
        import_litellm(SOURCE, owners=Owners(), rate=Decimal(1), currency=currency)


FIELDS = (
    *("litellm_provider", "mode", "alias_of", "max_input_tokens", "max_output_tokens", "deprecation_date"),
    *("input_cost_per_token", "output_cost_per_token", "output_cost_per_reasoning_token", "output_cost_per_image"),
    *("tiered_pricing", "supported_regions", "supported_modalities", "supported_output_modalities", "supports_vision"),
    *("supports_reasoning", "supports_response_schema", "supports_function_calling"),
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
    source = json.dumps({"z": CHAT, key: row, f"{key}2": CHAT | row if isinstance(row, dict) else row}).encode()
    assert_balanced(import_litellm(source, owners=sample_owners(), rate=RATE, currency="EUR"))
