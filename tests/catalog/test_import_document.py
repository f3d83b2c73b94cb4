"""The YAML document: read back it is what was imported, and it is always the same."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest
import yaml

from router_service.catalog.importing import Imported, Owners, Report, import_litellm, write_yaml
from tests.catalog.importing import DATA, RATE, sample_owners

SOURCE = (DATA / "litellm_sample.json").read_bytes()


class ExactLoader(yaml.SafeLoader):
    """YAML 1.1 with numbers as they are written."""


def _exact(loader: ExactLoader, node: yaml.ScalarNode) -> Decimal:
    return Decimal(loader.construct_scalar(node))


ExactLoader.add_constructor("tag:yaml.org,2002:float", _exact)
ExactLoader.add_constructor("tag:yaml.org,2002:int", _exact)


def read_back(text: str) -> dict[str, Any]:
    document = yaml.load(text, Loader=ExactLoader)  # noqa: S506 - a SafeLoader
    assert isinstance(document, dict)
    return document


def endpoint(**facts: object) -> Imported:
    return Imported("EUR", [], [{"endpoint_id": "e", **facts}], Report())


def test_what_is_read_back_is_what_was_imported() -> None:
    imported = import_litellm(SOURCE, owners=sample_owners(), rate=RATE, currency="eur")
    document = read_back(write_yaml(imported, source_name="sample"))
    assert list(document) == ["currency", "models", "endpoints"]
    assert document == {"currency": "EUR", "models": imported.models, "endpoints": imported.endpoints}


def test_the_header_tells_the_account() -> None:
    imported = import_litellm(SOURCE, owners=sample_owners(), rate=RATE, currency="EUR")
    text = write_yaml(imported, source_name="prices\nevil: true.json")
    header = [line for line in text.splitlines() if line.startswith("#")]
    assert header[0] == r"# Imported from prices\nevil: true.json."
    assert header[1] == "# 57 rows read: 40 imported as 41 endpoints, 17 left out"
    assert any(line.startswith("# left out, price_not_per_token: 2 (") for line in header)
    assert any(line.startswith("# changed, price_rounded: 1 (") for line in header)
    assert text.splitlines()[len(header)] == "currency: EUR"


def test_the_same_import_gives_the_same_bytes() -> None:
    texts = {
        write_yaml(import_litellm(SOURCE, owners=sample_owners(), rate=RATE, currency="EUR"), source_name="s")
        for _ in range(2)
    }
    assert len(texts) == 1


WORDS = (
    *(
        "NO",
        "no",
        "on",
        "y",
        "Null",
        "~",
        "true",
        "inf",
        "2024_08",
        "0123",
        "1e3",
        "0x1F",
        "12:30",
        "2027-01-31",
        "1.0",
    ),
    *(
        ".5",
        "-",
        "@x",
        "a: b",
        "a #b",
        "#x",
        "*x",
        "a:",
        "=",
        "<<",
        '"q"',
        "it's",
        "x\\y",
        "{a}",
        "[a]",
        "%x",
        "a,b",
        "é",
    ),
)


@pytest.mark.parametrize("word", WORDS)
def test_words_are_read_back_as_words(word: str) -> None:
    text = write_yaml(endpoint(country=word, tags=[word, word]), source_name="s")
    assert read_back(text)["endpoints"] == [{"endpoint_id": "e", "country": word, "tags": [word, word]}]


def test_what_yaml_would_misread_stands_in_quotes() -> None:
    text = write_yaml(endpoint(country="NO", model_version="2024_08", retires_at="2027-01-31"), source_name="s")
    assert 'country: "NO"' in text
    assert 'model_version: "2024_08"' in text
    assert 'retires_at: "2027-01-31"' in text


@pytest.mark.parametrize(
    ("price", "written"),
    [("0", "0"), ("0.000000", "0"), ("2.300000", "2.3"), ("10000", "10000"), ("0.000001", "0.000001"), ("1E+1", "10")],
)
def test_prices_are_written_in_full(price: str, written: str) -> None:
    assert f"input_price: {written}\n" in write_yaml(endpoint(input_price=Decimal(price)), source_name="s")


def test_five_thousand_endpoints_are_written_quickly() -> None:
    one = import_litellm(SOURCE, owners=Owners(), rate=RATE, currency="EUR")
    many = Imported("EUR", one.models, one.endpoints * (5000 // len(one.endpoints) + 1), one.report)
    began = time.process_time()
    write_yaml(many, source_name="s")
    assert time.process_time() - began < 10  # about one second; a pure emitter needs many times that
