"""The owners table: what it makes of a place, and what it says of its own mistakes."""

from __future__ import annotations

import pytest

from router_service.catalog.importing import Owner, Owners, Site, read_owners
from router_service.catalog.regions import Place
from router_service.domain.problems import InvalidValue
from tests.catalog.importing import sample_owners


@pytest.mark.parametrize(
    ("provider", "region", "sovereignty"),
    [
        ("scaleway", "fr-par", "eu-owned"),
        ("Scaleway ", "NL-AMS", "eu-owned"),
        ("acme", "eu", "eu-owned"),  # an owner in the EEA outside the EU
        ("bedrock", "eu-central-1", "eu-hosted"),
        ("bedrock", "eu-west-2", "global"),
        ("bedrock", "us-east-1", "global"),
        ("bedrock", "global", "global"),
        ("bedrock", "eu-west-9", ""),
        ("resale", "eu-central-1", "eu-hosted"),  # a router owns no machine
        ("resale", "us-east-1", "global"),
        ("stranger", "eu-central-1", ""),
        ("stranger", "us-east-1", ""),
    ],
)
def test_the_class_of_a_place(provider: str, region: str, sovereignty: str) -> None:
    owners = sample_owners()
    assert owners.sovereignty(provider, owners.place(provider, region)) == sovereignty


def test_without_a_place_there_is_no_class() -> None:
    assert sample_owners().sovereignty("scaleway", None) == ""


@pytest.mark.parametrize(
    ("regions", "site"),
    [
        ("fr-par", Site("fr-par", "FR")),
        (" FR-PAR ,", Site("FR-PAR", "FR")),
        ("lab-7=dk", Site("lab-7", "DK")),
        ("de", Site("", "DE")),
        ("EU", Site("", "EU")),
        ("fr-par,nl-ams", Site()),  # several: a row without a region may be in either
        ("", Site()),
    ],
)
def test_the_only_site_of_a_provider(regions: str, site: Site) -> None:
    table = f"provider\thq_country\teu_regions\np\tFR\t{regions}\n"
    assert read_owners(table.encode()).only_site("P") == site


def test_a_region_that_only_the_table_knows() -> None:
    owners = read_owners(b"provider\thq_country\teu_regions\np\tDK\tlab-7=DK,lab-8=SE\n")
    assert owners.place("p", "LAB-8") == Place("SE")
    assert owners.place("p", "lab-9") is None
    assert owners.place("q", "lab-8") is None


def test_columns_are_found_by_name_and_others_ignored() -> None:
    table = "\ufeffrouter\tNotes\tHQ_Country\tprovider\r\n\r\n# a comment\r\n1\tx\tse\tA_b\r\n\tx\t\tc\r\n"
    assert read_owners(table.encode()) == Owners({"a_b": Owner("SE", router=True), "c": Owner("", router=False)})


def test_every_mistake_is_told_at_once_with_its_line_and_cure() -> None:
    table = (
        "provider\thq_country\teu_regions\trouter\n"
        "ok\tFR\tfr-par\t0\n"
        "uk-one\tUK\t\t\n"
        "\n"
        "eu-one\tEU\t\t\n"
        "three\tFRA\t\tyes\n"
        "ok\tFR\t\t\n"
        "london\tGB\teu-west-2\t\n"
        "moved\tGB\teu-west-2=DE\t\n"
        "elsewhere\tFR\tfr-par=DE\t\n"
        "where\tFR\tatlantis\t\n"
        "world\tFR\tglobal\t\n"
        "\tFR\t\t\n"
        "short\n"
        "long\tFR\t\t\t\t\n"
    )
    with pytest.raises(InvalidValue) as refused:
        read_owners(table.encode(), name="owners.tsv")
    problems = {problem.field: f"{problem.message}; {problem.cure}" for problem in refused.value.problems}
    expected = {
        "line 3, hq_country": "write GB",
        "line 5, hq_country": "no country",
        "line 6, hq_country": "two letters",
        "line 6, router": "write 1 for a reseller",
        "line 7, provider": "a second time",
        "line 8, eu_regions": "is in GB, outside the EU/EEA",
        "line 9, eu_regions": "is in GB, outside the EU/EEA",
        "line 10, eu_regions": "is in FR; write fr-par",
        "line 11, eu_regions": "such as eu01=DE",
        "line 12, eu_regions": "spread over the world",
        "line 13, provider": "name the provider",
        "line 14, cells": "1 cells under 4 columns",
        "line 15, cells": "one tab each",
    }
    assert problems.keys() == expected.keys()
    assert all(part in problems[place] for place, part in expected.items())
    assert str(refused.value).startswith("owners.tsv: line 3, hq_country: ")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (b"", "no column provider, hq_country"),
        (b"# nothing\n\n", "no column provider"),
        (b"\n\nprovider\tcountry\nx\tFR\n", "line 3: no column hq_country"),
        (b"provider,hq_country\nx,FR\n", "<TAB>"),
        (b"provider\thq_country\nx\t\xff\n", "UTF-8"),
    ],
)
def test_what_is_no_table_is_refused(table: bytes, says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        read_owners(table)
