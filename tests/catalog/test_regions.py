"""Regions: where they are, and above all which of them are not in the EU."""

from __future__ import annotations

import re

import pytest

from router_service.catalog.region_tables import CLOUDS, GEOGRAPHIES, PROVIDER_WORDS
from router_service.catalog.regions import Place, cloud_of, locate
from router_service.domain.places import EEA, EU, in_eea

# Where names mislead: each of these reads like a place in the EU.
NOT_IN_THE_EEA = {
    "eu-west-2": "GB",
    "eu-central-2": "CH",
    "europe-west2": "GB",
    "europe-west6": "CH",
    "eu-gb": "GB",
    "eu-ch2": "CH",
    "eu-zurich-1": "CH",
    "eu-jovanovac-1": "RS",
    "eu-moscow": "RU",
    "uksouth": "GB",
    "switzerlandnorth": "CH",
    "uk-lon1": "GB",
    "ch-gva-2": "CH",
    "lon1": "GB",
    "gb/lhr": "GB",
}
IN_THE_EEA = {
    "eu-west-1": "IE",
    "eu-central-1": "DE",
    "eusc-de-east-1": "DE",
    "northeurope": "IE",
    "westeurope": "NL",
    "europe-west4": "NL",
    "europe-north1": "FI",
    "norwayeast": "NO",
    "eu-iceland1-a": "IS",
    "fr-par": "FR",
    "nl-ams": "NL",
    "pl-waw": "PL",
    "it-mil": "IT",
    "gra": "FR",
    "gra11": "FR",
    "de/txl": "DE",
    "fsn1": "DE",
    "hel1": "FI",
    "eu01": "DE",
    "eu-frankfurt-1": "DE",
    "eu-de": "DE",
    "eu-es": "ES",
    "fra1": "DE",
    "ams3": "NL",
    "eu": "EU",
    "europe": "EU",
}


@pytest.mark.parametrize(("region", "country"), NOT_IN_THE_EEA.items())
def test_a_european_name_outside_the_eea(region: str, country: str) -> None:
    place = locate(region)
    assert place == Place(country)
    assert not place.in_eea


@pytest.mark.parametrize(("region", "country"), IN_THE_EEA.items())
def test_inside_the_eea(region: str, country: str) -> None:
    place = locate(region)
    assert place == Place(country)
    assert place.in_eea


def test_only_a_spread_inside_the_eu_is_called_eu() -> None:
    spread = {region for region in re.findall(r"[a-z-]{2,}", GEOGRAPHIES) if locate(region) == Place("EU")}
    assert spread == {"eu", "europe"}
    assert locate("eu-central", "hetzner") == Place("EU")


@pytest.mark.parametrize("region", ["global", "apac", "global-standard"])
def test_a_spread_beyond_the_eu_is_known_and_has_no_country(region: str) -> None:
    place = locate(region)
    assert place == Place("")
    assert not place.in_eea


@pytest.mark.parametrize("region", ["  EU-WEST-2 ", "Eu-West-2\t"])
def test_case_and_space_do_not_matter(region: str) -> None:
    assert locate(region) == Place("GB")


@pytest.mark.parametrize("region", ["", "eu-west-9", "europe-west99", "mars", "eu-west-1x", "ﬁ-hel1", "eu\u00adwest-1"])
def test_what_is_not_known_is_nowhere(region: str) -> None:
    assert locate(region) is None


@pytest.mark.parametrize(
    ("region", "provider", "country"),
    [
        ("eu-west-1", "", "IE"),
        ("eu-west-1", "bedrock_converse", "IE"),
        ("eu-west-1", "dashscope", "GB"),
        ("eu-west-1", "some-neocloud", "IE"),
        ("eu-central", "linode", "DE"),
        ("eu-west", "akamai", "GB"),
        ("ap-southeast-3", "alibaba-cn", "MY"),
        ("eu", "vertex_ai-anthropic_models", "EU"),
        ("nl-ams", "huggingface_scaleway", "NL"),
    ],
)
def test_the_provider_settles_what_an_id_means(region: str, provider: str, country: str) -> None:
    assert locate(region, provider) == Place(country)


@pytest.mark.parametrize(
    ("region", "provider"),
    [
        ("eu-west", ""),  # London at one cloud, and who knows where at the next
        ("eu-central", ""),
        ("me-east-1", ""),
        ("fr-par", "bedrock"),  # no region of that cloud
        ("eu-west-4", "bedrock"),
    ],
)
def test_nothing_is_located_by_a_coincidence_of_names(region: str, provider: str) -> None:
    assert locate(region, provider) is None


def test_every_cloud_of_a_provider_has_a_table() -> None:
    assert set(PROVIDER_WORDS.values()) == set(CLOUDS)
    assert cloud_of("Vertex_AI-Mistral_Models") == "google"
    assert cloud_of("mistral") == ""


def test_the_tables_are_well_formed() -> None:
    for table in (GEOGRAPHIES, *CLOUDS.values()):
        for row in re.split(r"[|\n]", table.strip()):
            country, *regions = row.split()
            assert re.fullmatch(r"[A-Z]{2}|-", country), row
            assert regions, row
            assert all(region == region.lower() for region in regions), row


def test_the_countries_of_the_eu_and_the_eea() -> None:
    assert len(EU) == 27
    assert EU | {"IS", "LI", "NO"} == EEA
    assert in_eea("EU")
    assert in_eea("NO")
    assert not any(in_eea(country) for country in ("", "GB", "CH", "UK", "EL", "de", "US"))
