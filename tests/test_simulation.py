"""The simulation: the same seed gives the same figures, the goal of an outage is met, and no attempt leaves its decision."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks.simulation import bench, page, strategies
from benchmarks.simulation.caller import REPORT_MS, Caller, Came
from benchmarks.simulation.compare import Compared, compare
from benchmarks.simulation.events import Events, Process
from benchmarks.simulation.load import NOON, Operation, catalogue, operations
from benchmarks.simulation.measure import Figures, measure
from benchmarks.simulation.run import Run, lessons, run, went
from benchmarks.simulation.scenarios import OUTAGE, SCENARIOS
from benchmarks.simulation.strategies import COMPARED, FIXED, OFF, OURS, RANDOM, Lesson, Ours, Picked, Untaught
from benchmarks.simulation.world import Behaviour, Phase, Reply, World
from router_service.asks import Answer, Ask, Memory
from router_service.catalog.served import Served
from router_service.domain.decision import Decision
from router_service.engine.time_budget import allowances_ms, spendable_ms
from router_service.router import Router
from router_service.wire.trace import CODEC
from tests.memory_store import MemoryStore

BRIEF = replace(OUTAGE, before=4, fault=12, after=2)
WARM_S = 20


@pytest.fixture(scope="module")
def compared() -> Compared:
    return compare((bench.QUICK,), (1,), bench.QUICK_WARM_S)


def test_the_goal_of_an_outage_is_met_and_not_without_the_health_loop(compared: Compared) -> None:
    (ours,), (off,) = compared[OUTAGE.name, OURS], compared[OUTAGE.name, OFF]
    assert 100 * ours.served_fault >= page.SERVED_GOAL
    assert ours.attempts_settled <= page.ATTEMPTS_GOAL
    assert off.attempts_settled > 1.3
    assert ours.gone_after is not None
    assert ours.gone_after < 3
    assert off.gone_after is None


def test_no_attempt_leaves_its_decision_or_its_policy(compared: Compared) -> None:
    assert all(one.outside == 0 and one.attempts_made > one.requests for figures in compared.values() for one in figures)


def test_an_attempt_outside_the_policy_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere = tuple((one.endpoint_id, 0) for one in catalogue().index.endpoints[:3])
    monkeypatch.setattr("benchmarks.simulation.run.strategy", lambda *_: Untaught(lambda _: everywhere))
    with pytest.raises(AssertionError, match="attempts outside their decisions"):
        run(BRIEF, OURS, 1, WARM_S)


def _brief(name: str = OURS) -> Figures:
    return measure(run(BRIEF, name, 2, WARM_S))


def test_the_same_seed_gives_the_same_figures_in_whatever_process() -> None:
    code = "from tests.test_simulation import _brief; print(_brief())"
    root = Path(__file__).resolve().parents[1]
    environment = os.environ | {"PYTHONHASHSEED": "4711", "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", code]
    elsewhere = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    assert elsewhere.stdout.strip() == str(_brief())


def test_another_seed_gives_others() -> None:
    assert measure(run(BRIEF, RANDOM, 3, WARM_S)) != _brief(RANDOM)


class _Stored(Ours):
    """The same, with reports through Router.report and a store."""

    def make_router(self, new_trace_id: Callable[[], str]) -> Router:
        self.loop, memory = asyncio.new_event_loop(), Memory.of(MemoryStore(), CODEC, lambda _: None)
        return Router(self.served, lambda: self.now, new_trace_id=new_trace_id, memory=memory, health=self.health)

    def report(self, lesson: Lesson) -> None:
        taken = self.loop.run_until_complete(self.router.report(lesson.report))
        assert len(taken.new) == len(lesson.report.attempts)


def test_reports_through_a_store_teach_the_same() -> None:
    load = operations(2, BRIEF.requests)
    faulty = BRIEF.faulty(load)
    stored = _Stored(NOON, lessons(2, WARM_S))
    came = went(load, BRIEF.rate, World(2, faulty, BRIEF.phases()), stored, 2)
    stored.loop.close()
    assert measure(Run(BRIEF, came, faulty)) == _brief()


def test_the_loop_turned_off_is_the_router_that_learned_nothing() -> None:
    router = Router(Served(catalogue()), lambda: NOON)
    for one in operations(2, 200):
        answer = router.decide(Ask(one.request, one.policy_id))
        assert isinstance(answer, Answer)
        assert isinstance(answer.result, Decision)
        listed = tuple((candidate.endpoint_id, candidate.need_ms) for candidate in answer.result.candidates)
        assert strategies.strategy(OFF, 2, NOON).decide(one, NOON).candidates == listed


@pytest.mark.parametrize("name", [RANDOM, FIXED])
def test_the_others_choose_among_what_is_admitted_and_in_time(name: str) -> None:
    chosen = strategies.strategy(name, 2, NOON)
    for one in operations(2, 200):
        picked = chosen.decide(one, NOON).candidates
        allowances = allowances_ms(spendable_ms(one.request.deadline_ms or 0), len(picked))
        assert 1 <= len({endpoint_id for endpoint_id, _ in picked}) == len(picked) <= 3
        assert all(endpoint_id in one.allowed for endpoint_id, _ in picked)
        assert all(allowance >= need for allowance, (_, need) in zip(allowances, picked, strict=True))


def test_events_come_in_their_order() -> None:
    events, seen = Events(1000), []

    def process(name: str, *waits: int) -> Process:
        seen.append((events.now, name))
        for wait in waits:
            yield wait
            seen.append((events.now, name))

    events.start(process("a", 5, 5))
    events.start(process("b", 0, 10))
    events.start(process("c"), 5)
    events.start(process("late", 1), 50)
    events.run(1030)
    assert seen == [(1000, "a"), (1000, "b"), (1000, "b"), (1005, "c"), (1005, "a"), (1010, "b"), (1010, "a")]
    assert events.now == 1030
    with pytest.raises(ValueError, match="in the past"):
        events.start(process("early"), -1)


class _Script(World):
    """A world whose replies are written down: the first attempt has the first, and so on."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__(1, (), ())
        self._replies = replies
        self.asked: list[tuple[str, int]] = []

    def reply(self, endpoint_id: str, operation: Operation, attempt: int, now: int) -> Reply:
        self.asked.append((endpoint_id, now - NOON))
        return self._replies[attempt - 1]


WELL = Reply(1000, 200, valid=True, first_token_ms=300, speed=100)


def _operation(*needs: int, deadline_ms: int = 10_000, replies: tuple[Reply, ...]) -> tuple[list[Any], Came]:
    """What an operation over endpoints `e0`, `e1` … of these needs attempted when (ms), and what came of it."""
    one = operations(2, 1)[0]
    listed = tuple((f"e{number}", need) for number, need in enumerate(needs))
    request = replace_request(one, deadline_ms)
    world, events = _Script(*replies), Events(NOON)
    world.cost = lambda *_: 0  # type: ignore[method-assign] # of endpoints that the catalogue does not have
    caller = Caller(events, world, Untaught(lambda _: listed), 1)
    events.start(caller.operation(request))
    events.run(NOON + 60_000)
    return world.asked, caller.came[0]


def replace_request(one: Operation, deadline_ms: int) -> Operation:
    import msgspec  # noqa: PLC0415

    return replace(one, request=msgspec.structs.replace(one.request, deadline_ms=deadline_ms))
