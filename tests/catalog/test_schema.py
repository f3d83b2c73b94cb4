"""Schema: what an editor accepts and refuses, against the loader's own example and wrong documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from router_service.catalog.form import CIRCUITS, SECTIONS, SETTINGS
from router_service.catalog.schema import catalog_schema
from tests.catalog.test_load import EVERYTHING, EXAMPLE
from tests.catalog.yaml_files import WHOLE

SCHEMA = catalog_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


class EditorLoader(yaml.SafeLoader):
    """Types as editors see them: YAML 1.2, where NO is text and a date is one too."""


EditorLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":bool", ":merge"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
EditorLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false"), list("tf"))


def errors(text: str) -> list[str]:
    """The paths of what an editor would underline."""
    document = yaml.load(text, Loader=EditorLoader)  # noqa: S506 - a SafeLoader
    return [error.json_path for error in VALIDATOR.iter_errors(document)]


def test_it_is_a_schema_and_is_json() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


def test_it_accepts_the_example() -> None:
    assert errors(EXAMPLE.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        EVERYTHING,
        WHOLE,
        "endpoints: [{endpoint_id: e, status: down}]",
        "endpoints: [{endpoint_id: e, input_price: ~, tags: ~, structured_output: ~}]",
        "endpoints:",
        "endpoints: [{endpoint_id: e, country: NO, model_version: 2411, retires_at: 2027-01-31}]",
        "policies: [{policy_id: p, max_price: 0, retention: 0}]",
        "workloads: [{name: w, version: 3}, {name: W, version: 2026-11-30, max_cost: 0, regions: ~}]",
        "workloads: []",
        "circuits: {failures_in_row: 3, failure_share: 1, open_ms: ~}",
        "circuits:",
    ],
)
def test_it_accepts_what_loads_alone_or_with_others(text: str) -> None:
    assert errors(text) == []


WRONG = {
    "a: 1": "$",
    "workloads: {}": "$.workloads",
    "workloads: [{name: w}]": "$.workloads[0]",
    "workloads: [{name: w, version: next}]": "$.workloads[0].version",
    "workloads: [{name: a b, version: 1}]": "$.workloads[0].name",
    "workloads: [{name: w, version: 1, model: m}]": "$.workloads[0]",
    "workloads: [{name: w, version: 1, max_attempts: 4}]": "$.workloads[0].max_attempts",
    "circuits: []": "$.circuits",
    "circuits: {failures: 3}": "$.circuits",
    "circuits: {failure_share: 0}": "$.circuits",
    "currency: Euro": "$.currency",
    "currency: ~": "$.currency",
    "endpoints: {}": "$.endpoints",
    "endpoints: [e]": "$.endpoints[0]",
    "endpoints: [{model: m}]": "$.endpoints[0]",
    "endpoints: [{endpoint_id: ~}]": "$.endpoints[0].endpoint_id",
    "endpoints: [{endpoint_id: e, regoin: x}]": "$.endpoints[0]",
    "endpoints: [{endpoint_id: e, aliases: [x]}]": "$.endpoints[0]",
    "endpoints: [{endpoint_id: e, suppressed_until: 2027-01-01}]": "$.endpoints[0]",
    "endpoints: [{endpoint_id: e, status: on}]": "$.endpoints[0].status",
    "endpoints: [{endpoint_id: e, kind: ~}]": "$.endpoints[0].kind",
    "endpoints: [{endpoint_id: e, country: DEU}]": "$.endpoints[0].country",
    "endpoints: [{endpoint_id: e, error_rate: 300}]": "$.endpoints[0].error_rate",
    "endpoints: [{endpoint_id: e, tokens_per_second: 0}]": "$.endpoints[0].tokens_per_second",
    "endpoints: [{endpoint_id: e, input_price: -1}]": "$.endpoints[0].input_price",
    "endpoints: [{endpoint_id: e, context_window: 1.5}]": "$.endpoints[0].context_window",
    "endpoints: [{endpoint_id: e, context_window: '5'}]": "$.endpoints[0].context_window",
    "models: [{model: m, tools: yes}]": "$.models[0].tools",
    "models: [{model: m, input_modalities: text}]": "$.models[0].input_modalities",
    "models: [{model: m, input_modalities: [smell]}]": "$.models[0].input_modalities[0]",
    "models: [{model: m, strong_languages: [deutsch-]}]": "$.models[0].strong_languages[0]",
    "policies: [{policy_id: p, daily_budget: much}]": "$.policies[0].daily_budget",
    "policies: [{policy_id: p, residency: []}]": "$.policies[0].residency",
    "policies: [{policy_id: p, residency: [any]}]": "$.policies[0].residency[0]",
    "policies: [{policy_id: p, model_allow: ['']}]": "$.policies[0].model_allow[0]",
    "policies: [{policy_id: p, model_allow: [~]}]": "$.policies[0].model_allow[0]",
    "policies: [{policy_id: p, retention: 1y}]": "$.policies[0].retention",
}


@pytest.mark.parametrize("text", WRONG)
def test_it_refuses_what_does_not_load(text: str) -> None:
    assert errors(text) == [WRONG[text]]


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *schema["$defs"].values()):
        yield from part["properties"].items()


def test_every_field_is_there_and_described() -> None:
    assert list(SCHEMA["properties"]) == [*SETTINGS, *(section.name for section in (*SECTIONS, CIRCUITS))]
    for section in (*SECTIONS, CIRCUITS):
        assert list(SCHEMA["$defs"][section.name]["properties"]) == list(section.fields)
    for name, one in properties(SCHEMA):
        assert one["description"], name


def test_defaults_are_the_loader_s() -> None:
    defaults = {name: one["default"] for name, one in properties(SCHEMA) if "default" in one}
    assert defaults == {"kind": "hosted", "status": "up", "model_type": "text"}
