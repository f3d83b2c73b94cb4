"""The vectors of clients/conformance, but for whole runs: well-formed, and held by this library."""

from __future__ import annotations

import json
from datetime import datetime
from importlib import resources
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clients.python.tests.scripted import CONFORMANCE, Case, vectors
from router_service.domain.report import ReportedAttempt
from router_service.domain.thresholds import Thresholds
from router_service.health.effects import effect_of
from router_service.health.error_codes import subject_of
from router_service_client import Seen, classify
from router_service_client.execution_key import canonical_json, execution_key
from router_service_client.time_budget import allowance_ms, allowances_ms, fits, jitter_ms, spendable_ms

FILES = ("classification", "execution_keys", "failure_classes", "live", "runs", "time_division", "waiting")
CLASSIFICATION = vectors("classification.json")
DIVISION = vectors("time_division.json")
WAITING = vectors("waiting.json")
KEYS = vectors("execution_keys.json")


def name_of(case: Case) -> str:
    return str(case["name"])


@pytest.mark.parametrize("name", FILES)
def test_files_are_of_their_schema(name: str) -> None:
    schema = vectors(f"schemas/{name}.schema.json")
    Draft202012Validator.check_schema(schema)
    problems = [
        f"{one.json_path}: {one.message}" for one in Draft202012Validator(schema).iter_errors(vectors(f"{name}.json"))
    ]
    assert not problems


def test_every_file_of_vectors_has_a_schema() -> None:
    assert {one.stem for one in CONFORMANCE.glob("*.json")} == set(FILES)


def test_the_table_is_the_one_that_ships() -> None:
    shipped = resources.files("router_service_client").joinpath("failure_classes.json").read_bytes()
    assert shipped == (CONFORMANCE / "failure_classes.json").read_bytes()


def test_there_are_rows_enough_and_every_row_has_one() -> None:
    assert len(CLASSIFICATION["cases"]) >= 120
    rows = {row["row"] for row in vectors("failure_classes.json")["rows"]}
    assert {case["row"] for case in CLASSIFICATION["cases"]} == rows


def test_the_service_knows_every_code_that_is_reported() -> None:
    own = {"content": "request", "context": "request", "unsupported": "request", "ill": ""}
    for row in vectors("failure_classes.json")["subjects"]:
        expected = own.get(row["subject"], row["subject"])
        for code in (*row["words"], row["report"]):
            assert subject_of(code) == expected, code


@pytest.mark.parametrize("case", CLASSIFICATION["cases"], ids=name_of)
def test_what_was_seen_is_classified(case: Case) -> None:
    verdict = classify(Seen(**case["seen"]), datetime.fromisoformat(CLASSIFICATION["now"]))
    told = {"class": verdict.failure_class, **verdict._asdict()}
    expected: dict[str, Any] = dict(case["expect"])
    del expected["suppress_for_ms"]  # the service's to say
    if "need_ms" in case:
        del expected["effect"]  # depends on the need, which the service alone knows for certain
    assert {name: told[name] for name in expected} == expected


@pytest.mark.parametrize("case", CLASSIFICATION["cases"], ids=name_of)
def test_the_service_reads_the_report_so(case: Case) -> None:
    expected = case["expect"]
    attempt = ReportedAttempt(
        attempt_id="1",
        endpoint_id="one",
        failure_class=expected["class"],
        status_code=expected["status_code"],
        error_code=expected["error_code"],
        retry_after_ms=expected["retry_after_ms"],
        timeout_ms=case.get("timeout_ms"),
        latency_ms=case.get("latency_ms"),
    )
    effect = effect_of(attempt, "failed", case.get("need_ms"), Thresholds())
    assert (effect.kind, effect.suppress_for_ms) == (expected["effect"], expected["suppress_for_ms"])


@pytest.mark.parametrize("case", DIVISION["allowances"], ids=str)
def test_time_is_divided(case: Case) -> None:
    assert list(allowances_ms(case["spendable_ms"], case["attempts"])) == case["expect_ms"]


@pytest.mark.parametrize("case", DIVISION["before_an_attempt"], ids=str)
def test_time_is_divided_anew(case: Case) -> None:
    left = spendable_ms(case["deadline_ms"]) - case["gone_ms"]
    allowed = allowance_ms(left, case["needs_ms"], case["attempts_left"])
    expected = case["expect"]
    assert (left, allowed) == (expected["left_ms"], expected["allowances_ms"][0] if expected["starts"] else None)


@pytest.mark.parametrize("case", WAITING["jitter"], ids=str)
def test_jitter_is_full(case: Case) -> None:
    assert jitter_ms(case["retries"], case["draw"]) == case["expect_ms"]


@pytest.mark.parametrize("case", WAITING["retry_after"], ids=str)
def test_a_retry_after_takes_its_place(case: Case) -> None:
    wait = max(0, case["retry_after_ms"] - case["since_ms"])
    assert (wait if fits(wait, case["need_ms"], case["left_ms"]) else None) == case["expect_ms"]


@pytest.mark.parametrize("case", KEYS["cases"], ids=str)
def test_arguments_have_one_form_and_one_key(case: Case) -> None:
    arguments = json.loads(case["arguments"])
    assert canonical_json(arguments) == case["canonical"]
    assert execution_key(case["operation_id"], case["tool_name"], arguments) == case["key"]
    assert canonical_json(json.loads(case["canonical"])) == case["canonical"]


@pytest.mark.parametrize("case", KEYS["refused"], ids=str)
def test_what_has_no_canonical_form_is_refused(case: Case) -> None:
    with pytest.raises(ValueError, match=r"canonical form|another number"):
        canonical_json(json.loads(case["arguments"]))


@pytest.mark.parametrize("value", [{1: 2}, {"a": {1, 2}}, b"bytes"], ids=str)
def test_what_is_no_json_has_no_canonical_form(value: object) -> None:
    with pytest.raises(ValueError, match="canonical form"):
        canonical_json(value)


def test_the_parts_of_a_key_cannot_run_into_each_other() -> None:
    assert execution_key("a", "bc", {}) != execution_key("ab", "c", {})
    with pytest.raises(ValueError, match="zero character"):
        execution_key("a\0b", "c", {})
