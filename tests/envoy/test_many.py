"""A thousand requests over policies and outages drawn by a seed: none leaves its decision's list, and reports agree."""

from __future__ import annotations

import http.client
import random
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import pytest

from router_service.v1.report_pb2 import Attempt
from tests.envoy import providers as does
from tests.envoy.providers import Answer
from tests.envoy.world import World, attempts, listed, until

REQUESTS, BATCHES, AT_ONCE = 1000, 20, 8
NAMES = tuple(f"p{number}" for number in range(8))
CLASSES = ("eu-owned", "eu-owned", "eu-hosted", "eu-hosted", "eu-hosted", "global", "global", "global")
POLICIES = {
    "owned": "residency: [eu-owned]",
    "hosted": "residency: [eu-hosted]",
    "far": "residency: [global]",
    "all": "residency: [eu-hosted, global]",
    "few": 'residency: [eu-hosted, global], provider_deny: ["p0", "p3", "p6"]',
}
FAULTS: tuple[Answer, ...] = (
    does.answers(503),
    does.answers(429, retry_after="1"),
    does.answers(500),
    does.answers(400),
    does.resets,
    does.breaks_off,
)
UP, DOWN = does.answers(), None


def catalog() -> str:
    endpoints = "".join(
        f"- {{{{endpoint_id: m@{name}, model: m, provider: {name}, country: {'US' if kind == 'global' else 'FR'},"
        f' sovereignty: {kind}, address: "{{{name}}}/v1"}}}}\n'
        for name, kind in zip(NAMES, CLASSES, strict=True)
    )
    policies = "".join(f"- {{{{policy_id: {name}, {text}}}}}\n" for name, text in POLICIES.items())
    head = "currency: EUR\ndefault_policy: owned\nmodels: [{{model: m}}]\n"
    return f"{head}endpoints:\n{endpoints}policies:\n{policies}circuits: {{{{open_ms: 1000, refused_ms: 1000}}}}\n"


@pytest.fixture
def world_arguments() -> tuple[str, tuple[str, ...]]:
    return catalog(), NAMES


def test_not_one_request_reaches_a_provider_outside_its_decisions_list(own_world: World) -> None:
    world, chance = own_world, random.Random(20261130)
    world.serve()
    envoy = world.start_envoy(world.print(policies=tuple(POLICIES)))
    until(lambda: envoy.post().status == 200)
    world.providers.reset()
    before = {trace.trace_id for trace in world.traces()}
    asked: list[tuple[str, int]] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in range(BATCHES):
            _draw_outages(world, chance)
            policies = [chance.choice(tuple(POLICIES)) for _ in range(REQUESTS // BATCHES)]
            asked += zip(policies, pool.map(lambda one: _status(world, one), policies), strict=True)
    assert len(asked) == REQUESTS
    statuses = {status for _, status in asked}
    assert {200, 503} <= statuses  # answers and failures, so that the draw is worth something
    _hold(world, before)


def _draw_outages(world: World, chance: random.Random) -> None:
    for name in NAMES:
        fate: Answer | None = chance.choice((*[UP] * 12, DOWN, *FAULTS))
        world.providers[name].answer = fate or UP
        if (fate is DOWN) is world.providers.is_up(name):
            (world.providers.stop if fate is DOWN else world.providers.start)(name)


def _status(world: World, policy: str) -> int:
    assert world.envoy is not None
    try:
        return world.envoy.post({"model": "m"}, x_router_policy=policy).status
    except (OSError, http.client.IncompleteRead):
        return 0  # broken off


def _hold(world: World, before: set[str]) -> None:
    """What each request's decision listed, what providers saw of it, and what was reported, agree."""
    seen: dict[str, list[str]] = defaultdict(list)
    for one in world.providers.saw():
        seen[one.headers["x-request-id"]].append(f"m@{one.provider}")
    made_since = [trace for trace in world.traces() if trace.trace_id not in before]
    decided = {trace.operation_id: trace for trace in made_since if trace.HasField("decision")}
    assert len(made_since) == REQUESTS
    assert set(seen) <= set(decided)
    unreported = 0
    for operation_id, trace in decided.items():
        made = world.trace(trace.trace_id)
        reached = [one.endpoint_id for one in attempts(made) if _was_sent(one)]
        order = listed(made)
        assert set(seen[operation_id]) <= set(order)
        assert sorted(reached, key=order.index) == sorted(seen[operation_id], key=order.index), made
        assert [one.endpoint_id for one in attempts(made)] == order[: len(attempts(made))]
        unreported += not made.reports
    assert len(decided) >= REQUESTS // 2
    assert not unreported


def _was_sent(attempt: Attempt) -> bool:
    """Whether a byte of the request went out: what could not be reached is transient without a status."""
    return (attempt.failure_class, attempt.status_code) != ("transient", 0)
