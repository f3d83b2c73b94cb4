"""Schema: what an editor accepts and refuses of a callers file."""

from __future__ import annotations

import json

import pytest
import yaml
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from router_service.callers.form import SECTIONS
from router_service.callers.schema import callers_schema
from router_service.cli import main
from tests.callers.files import EXAMPLE

VALIDATOR = Draft202012Validator(callers_schema())


def errors(text: str) -> list[str]:
    """The paths of what an editor would underline."""
    document = json.loads(json.dumps(yaml.safe_load(text), default=str))
    return [error.json_path for error in VALIDATOR.iter_errors(document)]


def test_it_is_a_schema_and_the_verb_prints_it() -> None:
    Draft202012Validator.check_schema(callers_schema())
    done = CliRunner().invoke(main, ["schema", "callers"])
    assert (done.exit_code, json.loads(done.output)) == (0, callers_schema())
    assert json.loads(CliRunner().invoke(main, ["schema"]).output)["title"] == "Catalogue"


def test_it_knows_every_key_and_accepts_the_example() -> None:
    assert errors(EXAMPLE) == []
    for section in SECTIONS:
        assert callers_schema()["$defs"][section.name]["properties"].keys() == section.fields.keys()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("callers: [{caller: a, roles: [admn]}]", "$.callers[0].roles[0]"),
        ("callers: [{caller: a, roles: []}]", "$.callers[0].roles"),
        ("callers: [{caller: a, role: read}]", "$.callers[0]"),
        ("callers: [{roles: [read]}]", "$.callers[0]"),
        ("tokens: [{sha256: abc, caller: a}]", "$.tokens[0].sha256"),
        ("tokns: []", "$"),
    ],
)
def test_it_refuses_what_the_loader_refuses(text: str, path: str) -> None:
    assert errors(text) == [path]
