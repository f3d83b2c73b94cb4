"""What Decide answered, as metrics count it: the same sums as counting one by one, whatever is remembered between."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from router_service.domain.decision import Decision, Refusal
from router_service.server.answers import INLINE_POLICY, SEEN_MAX, Answers
from router_service.server.labels import OTHER, Values
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.route_pb2 import RouteRequest
from tests.server.in_process import CATALOG, EVERYTHING_CHANGED, InProcess, forgetful, history

__all__ = ["forgetful", "history"]  # fixtures

POLICIES = ("eu", "world", "third")
REASONS = ("no_vision", "circuit_open", "price_above_ceiling")


def verdict(policy_id: str, code: str, reasons: dict[str, int]) -> Decision | Refusal:
    """An answer with these; `code` empty is a decision."""
    same: dict[str, Any] = {
        "policy_id": policy_id,
        "requested_model": "",
        "resolved_model": "",
        "steps": (),
        "approximate": False,
        "pinned": False,
        "effective_residency": "",
        "retention": "",
        "considered": 9,
        "excluded": sum(reasons.values()),
        "reasons": reasons,
    }
    return Refusal(**same, code=code, message="") if code else Decision(**same, candidates=(), sentence="")


def answers(*policies: str, most: int = 10) -> Answers:
    shown = Values(most)
    shown.serve(policies)
    return Answers(shown)


def told(counted: Answers) -> dict[tuple[str, ...], float]:
    """Every row by the values of its labels, in the order of policy and outcome or reason."""
    return {
        (sample.labels["policy"], sample.labels.get("outcome", sample.labels.get("reason", ""))): sample.value
        for metric in counted.collect()
        for sample in metric.samples
    }


def test_the_sums_are_those_of_counting_one_by_one() -> None:
    chance = random.Random(1)
    counted, expected = answers(*POLICIES), Counter[tuple[str, ...]]()
    known = [
        verdict(
            chance.choice(POLICIES),
            chance.choice(("", "", "model_denied", "budget_exceeded")),
            {reason: chance.randrange(1, 9) for reason in chance.sample(REASONS, chance.randrange(4))},
        )
        for _ in range(3 * SEEN_MAX)
    ]
    for turn in range(5000):
        one, inline = chance.choice(known), False
        if turn % 7 == 0:  # one that nobody else holds, whose place in memory the next may get
            one, inline = verdict(chance.choice(POLICIES), "", {"no_vision": turn}), True
        counted.add(one, inline)
        policy = INLINE_POLICY if inline else one.policy_id
        expected[policy, one.code if isinstance(one, Refusal) else "decided"] += 1
        for reason, endpoints in one.reasons.items():
            expected[policy, reason] += endpoints
        if turn % 997 == 0:
            assert told(counted) == expected
    assert told(counted) == expected


def test_policies_that_the_catalogue_has_not_or_that_are_too_many_are_others() -> None:
    counted = answers("a", "b", "c", most=2)
    for policy_id in ("a", "b", "c", "d", "a"):
        counted.add(verdict(policy_id, "", {}), False)
    assert told(counted) == {("a", "decided"): 2, ("b", "decided"): 1, (OTHER, "decided"): 2}


async def test_answers_over_the_wire_are_counted_with_their_reasons(history: InProcess) -> None:
    expected: Counter[str] = Counter()
    for model in ("", "", "large", "no-such-model"):
        answer = await history.router.Decide(pb.DecideRequest(request=RouteRequest(model=model)))
        expected.update((answer.decision if answer.HasField("decision") else answer.refusal).reasons)
    assert history.counted("router_decisions_total", policy="eu", outcome="decided") == 3
    assert history.counted("router_decisions_total", policy="eu", outcome="model_not_found") == 1
    assert expected == {"sovereignty_denied_by_policy": 3}
    assert history.counted("router_excluded_endpoints_total", policy="eu", reason="sovereignty_denied_by_policy") == 3


async def test_a_policy_that_a_new_catalogue_no_longer_has_loses_its_rows(history: InProcess) -> None:
    for policy_id in ("eu", "world"):
        await history.router.Decide(pb.DecideRequest(policy_id=policy_id))
    await history.serve(EVERYTHING_CHANGED)
    assert history.counted("router_decisions_total", policy="eu", outcome="decided") == 0
    assert history.counted("router_decisions_total", policy="world", outcome="decided") == 1
    await history.serve(CATALOG)
    await history.router.Decide(pb.DecideRequest(policy_id="eu"))
    assert history.counted("router_decisions_total", policy="eu", outcome="decided") == 1
