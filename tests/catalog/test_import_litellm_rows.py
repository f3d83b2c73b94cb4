"""Rows of LiteLLM's file one by one: prices to the last digit, and whatever else may stand in one."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router_service.catalog.importing import Imported, Owners, UnreadableSource, import_litellm
from router_service.domain.problems import InvalidValue
from tests.catalog.importing import DATA, RATE, assert_balanced, by_id, left_out, sample_owners


def one(entry: dict[str, Any] | str, key: str = "acme/m", rate: str = "1") -> Imported:
    """The import of one entry, beside another that makes the file LiteLLM's."""
    text = entry if isinstance(entry, str) else json.dumps(entry)
    source = f'{{{json.dumps(key)}: {text}, "z": {{"litellm_provider": "z", "mode": "chat"}}}}'
    return import_litellm(source.encode(), owners=Owners(), rate=Decimal(rate), currency="USD")


SOURCE = (DATA / "litellm_sample.json").read_bytes()
CHAT = {"litellm_provider": "acme", "mode": "chat"}


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
