"""Check: warnings about what loads but can hardly be meant, each with file, line and cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from router_service.catalog.check import Report, check
from tests.catalog.test_load import EXAMPLE
from tests.catalog.yaml_files import shown, write

NOW = 1_796_000_000_000  # 2026-11-30

CATALOG = """currency: EUR
models:
- {model: large, vendor: acme, aliases: [big-2411], input_price: 1, output_price: 2}
- {model: embed, model_type: embedding}
endpoints:
- {endpoint_id: de, model: large, provider: acme, region: eu-central-1, country: DE, sovereignty: eu-owned}
- {endpoint_id: us, model: large, provider: acme, region: us-east-1, country: US, sovereignty: global}
- {endpoint_id: embed, model: embed, country: DE, sovereignty: eu-owned}
policies:
- {policy_id: eu}
- {policy_id: all, residency: [eu-hosted, global]}
"""


def checked(folder: Path, text: str) -> Report:
    return check(write(folder, a=text), NOW)


def warnings_of(folder: Path, text: str) -> list[str]:
    report = checked(folder, text)
    assert not report.problems
    assert report.content is not None
    return shown(report.warnings, folder)


def test_the_example_has_no_problems_and_no_warnings() -> None:
    report = check(EXAMPLE, NOW)
    assert shown(report.problems + report.warnings, EXAMPLE.parent) == []
    assert report.content is not None


def test_a_sound_catalogue_has_no_warnings(tmp_path: Path) -> None:
    assert warnings_of(tmp_path, CATALOG) == []


def test_what_does_not_load_has_problems_and_no_warnings(tmp_path: Path) -> None:
    report = checked(tmp_path, CATALOG.replace("country: US", "country: USA"))
    assert len(report.problems) == 1
    assert (report.warnings, report.content) == ((), None)


# A policy's list with one entry that matches nothing → the warning, less its place.
ENTRIES = {
    "regions: [DE, fr]": '"fr" matches nothing: no endpoint is in that country; remove it, or list an endpoint there',
    "regions: [DE, UK]": '"UK" matches nothing: no endpoint is in that country; write GB, its code of ISO 3166-1',
    "regions: [DE, eu-centrl-1]": '"eu-centrl-1" matches no region of the catalogue; did you mean eu-central-1?',
    "regions: [DE, Germany]": (
        '"Germany" matches no region of the catalogue; write a country such as DE, or a region id of the catalogue'
    ),
    "regions: [DE, ap-*]": (
        '"ap-*" matches no region of the catalogue; write a country such as DE, or a region id of the catalogue'
    ),
    "provider_allow: [acme, akme]": '"akme" matches no provider of the catalogue; did you mean acme?',
    "provider_deny: [x, openai*]": (
        '"openai*" matches no provider of the catalogue; write a provider of the catalogue, or remove it'
    ),
    "model_allow: [large, larg]": '"larg" matches no model of the catalogue; did you mean large?',
    "model_allow: [large, gpt-*]": (
        '"gpt-*" matches no model of the catalogue; write a slug or an alias of the catalogue, or remove it'
    ),
    "model_allow: [large, large-2411]": (
        '"large-2411" is large only approximately (date was cut), which is not enough to allow it; '
        "write large, or make it an alias of that model"
    ),
    "model_allow: [large, other/acme.large@1]": (
        '"other/acme.large@1" is large only approximately (version, path, prefix was cut), '
        "which is not enough to allow it; write large, or make it an alias of that model"
    ),
    "model_allow: [large, auto]": (
        '"auto" names the whole pool, which no entry can match; write a model, or * for all'
    ),
    "model_deny: [x, acme/embedd]": '"acme/embedd" matches no model of the catalogue; did you mean embed?',
}


@pytest.mark.parametrize("line", ENTRIES)
def test_an_entry_that_matches_nothing(tmp_path: Path, line: str) -> None:
    text = CATALOG + f"- policy_id: p\n  {line}\n".replace("[", "\n  - ").replace(", ", "\n  - ").replace("]", "")
    name = line.partition(":")[0]
    last = text.count("\n")
    assert f"a.yaml:{last}: policies[p].{name}[1]: {ENTRIES[line]}" in warnings_of(tmp_path, text)


@pytest.mark.parametrize(
    "line",
    [
        "regions: [DE, EU, EEA, eu-*, EU-CENTRAL-1]",
        "provider_allow: [ACME, '*']",
        "model_allow: [large, big-2411, acme/large, 'l*']",
        "model_deny: [embed-2411]",
    ],
)
def test_an_entry_that_matches_something(tmp_path: Path, line: str) -> None:
    assert warnings_of(tmp_path, CATALOG + f"- {{policy_id: p, {line}}}\n") == []


def test_groups_of_countries_that_match_nothing(tmp_path: Path) -> None:
    text = (
        CATALOG.replace("country: DE, sovereignty: eu-owned", "country: US")
        + "- {policy_id: p, regions: [eu, EEA, us]}"
    )
    found = [one for one in warnings_of(tmp_path, text) if "regions" in one]
    assert found == [
        (
            'a.yaml:12: policies[p].regions[0]: "eu" matches nothing: no endpoint is there; '
            "remove it, or list an endpoint there"
        ),
        (
            'a.yaml:12: policies[p].regions[1]: "EEA" matches nothing: no endpoint is there; '
            "remove it, or list an endpoint there"
        ),
    ]


def test_a_model_that_nobody_offers(tmp_path: Path) -> None:
    text = CATALOG.replace("endpoints:\n", "- model: idle\nendpoints:\n") + "- {policy_id: p, model_deny: [idle]}\n"
    assert warnings_of(tmp_path, text) == [
        "a.yaml:5: models[idle]: no endpoint offers it; list an endpoint of it, or remove the model",
        (
            'a.yaml:13: policies[p].model_deny[0]: "idle" matches nothing: the model has no endpoint; '
            "list an endpoint of it, or remove the entry"
        ),
    ]


# Keys of one more endpoint → why no policy reaches it, or nothing. Policies: eu (all in the EU) and p (up to 2 EUR).
REACH = {
    "sovereignty: global": "sovereignty_denied_by_policy under 1 of 2, price_not_documented under 1 of 2",
    "sovereignty: global, input_price: 2, output_price: 2": None,
    "sovereignty: global, input_price: 2, output_price: 2.01": (
        "sovereignty_denied_by_policy under 1 of 2, price_above_ceiling under 1 of 2"
    ),
    "sovereignty: eu-owned, country: DE": None,
    "sovereignty: eu-owned, country: DE, kind: partner": "partner_not_enabled under 2 of 2",
    "sovereignty: eu-owned, country: DE, provider: bad": "provider_denied under 2 of 2",
    # Not to be reached by design, or not today.
    "kind: catalog-only": None,
    "model_type: image": None,
    "sovereignty: eu-owned, country: DE, status: down": None,
    "sovereignty: eu-owned, country: DE, status: unknown": None,
}


@pytest.mark.parametrize("keys", REACH)
def test_an_endpoint_that_no_policy_can_reach(tmp_path: Path, keys: str) -> None:
    text = (
        "currency: EUR\nmodels: [{model: m}]\n"
        "policies:\n- {policy_id: eu, provider_deny: [bad*]}\n"
        "- {policy_id: p, residency: [eu-hosted, global], max_price: 2, provider_deny: [bad*]}\n"
        "endpoints:\n- {endpoint_id: bad, model: m, kind: catalog-only, provider: badly}\n"
        "- {endpoint_id: ok, model: m, sovereignty: eu-owned, country: DE, input_price: 1, output_price: 1}\n"
        f"- {{endpoint_id: e, model: m, {keys}}}\n"
    )
    why = REACH[keys]
    expected = (
        f"a.yaml:9: endpoints[e]: no policy can ever reach it: {why}; "
        "widen a policy deliberately, or write kind: catalog-only"
    )
    assert warnings_of(tmp_path, text) == ([expected] if why else [])


# A further policy → what it fails to admit, or nothing.
POLICIES = {
    "residency: [eu-owned]": None,
    "residency: [global]": None,
    "residency: [eu-owned], partner_endpoints: true, max_price: 0.5": (
        "admits no endpoint of the catalogue: "
        "1 sovereignty_denied_by_policy, 1 not_a_text_model, 1 price_above_ceiling; "
        "widen it, or list an endpoint that it admits"
    ),
    "residency: [eu-hosted, global], regions: [US]": (
        "lists an EU class and admits no endpoint in the EU/EEA; list one that it admits, or write residency: [global]"
    ),
    "residency: [global], regions: [US]": None,
    "residency: [global], regions: [DE]": (
        "admits no endpoint of the catalogue: 2 sovereignty_denied_by_policy, 1 region_denied_by_policy; "
        "widen it, or list an endpoint that it admits"
    ),
}


@pytest.mark.parametrize("keys", POLICIES)
def test_a_policy_that_admits_nothing(tmp_path: Path, keys: str) -> None:
    expected = [f"a.yaml:12: policies[p]: {POLICIES[keys]}"] if POLICIES[keys] else []
    assert warnings_of(tmp_path, CATALOG + f"- {{policy_id: p, {keys}}}\n") == expected


# Provider, region and country of an endpoint → what is wrong with the three, or nothing.
PLACES = {
    ("bedrock", "eu-west-2", "DE"): "DE, but region eu-west-2 is in GB; write country: GB",
    ("bedrock", "eu-west-2", "GB"): None,
    ("bedrock", "eu-central-1", "EU"): None,
    ("bedrock", "eu", "DE"): None,
    ("bedrock", "eu", "US"): "US, but region eu is spread over the EU; write country: EU",
    ("bedrock", "us-east-1", "EU"): "EU, but region us-east-1 is in US; write country: US",
    ("azure", "norwayeast", "EU"): "EU, but region norwayeast is in NO; write country: NO",
    ("vertex_ai", "global", "DE"): "DE, but region global is spread over several countries; leave the country out",
    ("vertex_ai", "global", "''"): None,
    ("acme", "moon-1", "DE"): None,
    ("acme", "''", "DE"): None,
}


@pytest.mark.parametrize("place", PLACES)
def test_a_region_that_is_known_to_be_elsewhere(tmp_path: Path, place: tuple[str, str, str]) -> None:
    provider, region, country = place
    added = f"- endpoint_id: e\n  model: large\n  provider: {provider}\n  region: {region}\n  country: {country}\n"
    text = CATALOG.replace("policies:\n", f"{added}policies:\n")
    problem = PLACES[place]
    expected = f"a.yaml:13: endpoints[e].country: {problem}, and a class of sovereignty that fits"
    assert warnings_of(tmp_path, text) == ([expected] if problem else [])


@pytest.mark.parametrize(("retires_at", "gone"), [("2026-11-20", True), ("2030-01-01", False)])
def test_an_endpoint_that_has_retired(tmp_path: Path, retires_at: str, gone: bool) -> None:
    text = CATALOG.replace("policies:\n", f"- endpoint_id: e\n  model: large\n  retires_at: {retires_at}\npolicies:\n")
    expected = (
        f"a.yaml:11: endpoints[e].retires_at: retired since {retires_at}T00:00:00Z; "
        "remove the endpoint, or correct the date"
    )
    assert warnings_of(tmp_path, text) == ([expected] if gone else [])


def test_a_warning_of_an_overlaid_value_points_at_its_file(tmp_path: Path) -> None:
    write(tmp_path, a=CATALOG, b="endpoints:\n- endpoint_id: us\n  country: DE\n")
    assert shown(check(tmp_path, NOW).warnings, tmp_path) == [
        (
            "b.yaml:3: endpoints[us].country: DE, but region us-east-1 is in US; "
            "write country: US, and a class of sovereignty that fits"
        )
    ]
