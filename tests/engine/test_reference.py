"""The engine is held to a plain reference implementation, written apart from it, on seeded random cases."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from router_service.domain import reasons
from router_service.domain.reasons import REFUSALS
from router_service.engine.decide import decide
from router_service.engine.explain import explain
from router_service.policies.refuse import EARLY_REFUSALS
from tests.reference.compare import differences
from tests.reference.generate import random_case
from tests.reference.oracle import answer
from tests.vector_form import explanation_form, normal, read_case, result_form

CASES, CHUNKS = 20_000, 40
SEED = 20_261_130
LITERALS = {value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)}


def compare_chunk(chunk: int) -> tuple[Counter[str], list[str]]:
    """What occurred in one chunk of cases, and where engine and reference differ."""
    rng = random.Random(SEED + chunk)
    occurred: Counter[str] = Counter()
    found: list[str] = []
    for number in range(CASES // CHUNKS):
        case = random_case(rng)
        expected = answer(case)
        parts = read_case(case)
        got, told = result_form(decide(*parts)), explanation_form(explain(*parts))
        wrong = differences(got, normal(expected["expected"])) + differences(told, expected["explain"])
        found += [f"seed {SEED + chunk}, case {number}{place}" for place in wrong]
        occurred["cases"] += 1
        occurred.update(_contents(got, told))
        found += [f"seed {SEED + chunk}, case {number}: {rule}" for rule in _broken_rules(case, got, told)]
    return occurred, found


def _contents(got: dict[str, Any], told: dict[str, Any]) -> set[str]:
    """The literals that occur in a case: a refusal's code apart from a reason of the same name."""
    kinds = {by["reason"] for one in told["endpoints"] for by in one["refused_by"]}
    kinds.add("refusal " + got["refusal"]["code"] if "refusal" in got else "decision")
    return kinds


def _broken_rules(case: dict[str, Any], got: dict[str, Any], told: dict[str, Any]) -> list[str]:
    """Rules that hold of every answer, whatever the reference says."""
    (result,) = got.values()
    survivors = [one["endpoint_id"] for one in told["endpoints"] if not one["refused_by"]]
    listed = [one["endpoint_id"] for one in result.get("candidates", ())]
    broken = []
    if result["considered"] != result["excluded"] + len(survivors):
        broken.append("considered is not excluded + survivors")
    if sum(result["reasons"].values()) != result["excluded"]:
        broken.append("the reasons do not add up to excluded")
    if not set(listed) <= set(survivors) or len(set(listed)) < len(listed):
        broken.append("a candidate is no survivor, or listed twice")
    if case["catalog"] and "decision" in got:
        allowed = set(case["policy"].get("residency") or ["eu-hosted"])
        allowed |= {"eu-owned"} if "eu-hosted" in allowed else set()
        outside = (one for one in result["candidates"] if (one["sovereignty"] or "global") not in allowed)
        broken += [f"{one['endpoint_id']} is outside the policy's residency" for one in outside]
    return broken


def test_engine_and_reference_agree() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
        results = list(workers.map(compare_chunk, range(CHUNKS)))
    occurred = sum((counts for counts, _ in results), Counter[str]())
    found = [line for _, lines in results for line in lines]
    assert not found, "\n".join(found[:20])
    assert occurred["cases"] == CASES
    refusals = {f"refusal {code}" for code in REFUSALS.keys() - EARLY_REFUSALS}
    assert not (LITERALS | refusals | {"decision"}) - occurred.keys()
    assert occurred["decision"] >= CASES // 4
