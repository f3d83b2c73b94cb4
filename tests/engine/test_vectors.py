"""Decisions worked out from the rules beforehand are met exactly, by decide and by explain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from router_service.engine.decide import decide
from router_service.engine.explain import explain
from tests.reference.compare import differences
from tests.shared_data import shared
from tests.vector_form import decided, explained, normal, read_case

OWN = Path(__file__).resolve().parents[1] / "vectors" / "decisions.jsonl"


def _differences(path: Path) -> tuple[int, list[str]]:
    found = []
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, start=1):
        case = json.loads(line)
        wrong = differences(decided(case), normal(case["expected"]))
        wrong += differences(explained(case), case["explain"])
        found += [f"line {number}{place}" for place in wrong]
    return len(lines), found


def test_own_vectors() -> None:
    count, found = _differences(OWN)
    assert count >= 40
    assert not found, "\n".join(found[:20])


def test_shared_vectors() -> None:
    count, found = _differences(shared("vectors/decisions.jsonl"))
    assert count >= 367
    assert not found, "\n".join(found[:20])


def test_a_wrong_expectation_is_seen() -> None:
    case = json.loads(OWN.read_text().splitlines()[0])
    (kind, result), *_ = case["expected"].items()
    result["considered"] += 1
    assert differences(decided(case), normal({kind: result})) != []


@pytest.mark.parametrize("line", OWN.read_text().splitlines()[:10] if OWN.exists() else [])
def test_explain_holds_the_very_decision(line: str) -> None:
    case = json.loads(line)
    assert explain(*read_case(case)).result == decide(*read_case(case))
