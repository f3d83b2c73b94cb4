"""LiteLLM's file: each oddity of it once, in a sample written for it."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from router_service.catalog.importing import Imported, Owners, Report, import_litellm
from router_service.catalog.importing.aliases import Claim, aliases_of
from tests.catalog.importing import DATA, RATE, assert_balanced, by_id, left_out, names, sample_owners

SOURCE = (DATA / "litellm_sample.json").read_bytes()


@pytest.fixture(scope="module")
def imported() -> Imported:
    return import_litellm(SOURCE, owners=sample_owners(), rate=RATE, currency="EUR")


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
