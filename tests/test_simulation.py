"""The simulation: a seed gives the same figures again, an outage's goal is met, and no attempt leaves its decision."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.simulation import bench, page, strategies
from benchmarks.simulation.caller import Caller, Came
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
from router_service.domain.caller import LOCAL
from router_service.domain.decision import Decision
from router_service.domain.report import ReportedAttempt
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
    assert all(
        one.outside == 0 and one.attempts_made > one.requests for figures in compared.values() for one in figures
    )


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
        taken = self.loop.run_until_complete(self.router.report(LOCAL, lesson.report))
        assert len(taken.new) == len(lesson.report.attempts)


def test_reports_through_a_store_teach_the_same() -> None:
    load = BRIEF.load(2)
    faulty = BRIEF.faulty(load)
    stored = _Stored(NOON, lessons(2, WARM_S))
    came = went(load, BRIEF.rate, World(2, faulty, BRIEF.phases()), stored, 2)
    stored.loop.close()
    assert measure(Run(BRIEF, came, faulty)) == _brief()


def test_the_loop_turned_off_is_the_router_that_learned_nothing() -> None:
    router = Router(Served(catalogue()), lambda: NOON)
    for one in operations(2, 200):
        answer = router.decide(LOCAL, Ask(one.request, one.policy_id))
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
    """A world whose replies are written down, one an attempt."""

    COST = 7

    def __init__(self, *replies: Reply) -> None:
        super().__init__(1, (), ())
        self._replies = replies
        self.asked: list[tuple[str, int]] = []

    def reply(self, endpoint_id: str, _: Operation, attempt: int, now: int) -> Reply:
        self.asked.append((endpoint_id, now - NOON))
        return self._replies[attempt - 1]

    def cost(self, *_: object) -> int:
        return self.COST


def _attempted(
    *needs: int, replies: tuple[Reply, ...], deadline_ms: int = 10_000
) -> tuple[list[tuple[str, int]], Came]:
    """What an operation over endpoints `e0`, `e1` … of these needs attempted when (ms), and what came of it."""
    listed = tuple((f"e{number}", need) for number, need in enumerate(needs))
    (one,) = operations(2, 1)
    one = replace(one, request=msgspec.structs.replace(one.request, deadline_ms=deadline_ms))
    world, events = _Script(*replies), Events(NOON)
    caller = Caller(events, world, Untaught(lambda _: listed), 1)
    events.start(caller.operation(one))
    events.run(NOON + 60_000)
    return world.asked, caller.came[0]


WELL = Reply(1_000, 200, valid=True, first_token_ms=300, speed=100)
ILL, SILENT, REFUSED = Reply(50, 503), Reply(None), Reply(40)


def test_what_is_silent_takes_its_allowance_and_the_rest_is_divided_anew() -> None:
    asked, came = _attempted(900, 900, 900, replies=(SILENT, SILENT, WELL))
    first = allowances_ms(9_700, 3)[0]
    second = first + allowances_ms(9_700 - first, 2)[0]
    assert asked == [("e0", 0), ("e1", first), ("e2", second)]
    assert (came.accepted, came.attempts, came.took) == (True, 3, second + 1_000)


def test_no_attempt_begins_whose_need_does_not_fit() -> None:
    asked, came = _attempted(900, 9_000, 900, replies=(SILENT, WELL))
    assert [endpoint_id for endpoint_id, _ in asked] == ["e0", "e2"]
    assert came.accepted


def test_at_most_three_attempts_are_made() -> None:
    asked, came = _attempted(900, 900, 900, 900, replies=(ILL, ILL, ILL))
    assert len(asked) == 3
    assert not came.accepted


def test_a_refused_connection_is_tried_once_more_after_a_wait() -> None:
    asked, _ = _attempted(900, 900, replies=(REFUSED, REFUSED, WELL))
    assert [endpoint_id for endpoint_id, _ in asked] == ["e0", "e0", "e1"]
    assert 40 <= asked[1][1] <= 240


def test_a_rate_limit_is_waited_for_only_where_nothing_else_is_left_and_it_fits() -> None:
    limited = Reply(50, 429, retry_after_ms=3_000)
    assert _attempted(900, 900, replies=(limited, WELL))[0] == [("e0", 0), ("e1", 50)]
    assert _attempted(900, replies=(limited, WELL))[0] == [("e0", 0), ("e0", 3_050)]
    assert _attempted(900, replies=(limited, WELL), deadline_ms=3_500)[0] == [("e0", 0)]


def test_an_answer_that_fails_acceptance_costs_and_the_next_endpoint_is_asked() -> None:
    asked, came = _attempted(900, 900, replies=(replace(WELL, valid=False), WELL))
    assert [endpoint_id for endpoint_id, _ in asked] == ["e0", "e1"]
    assert came.cost == 2 * _Script.COST


def test_backends_do_as_their_script_says() -> None:
    (one,) = operations(2, 1)
    best = next(iter(OUTAGE.faulty(operations(2, 500))))

    def reply(second: float, **behaviour: Any) -> Reply:
        world = World(2, {best}, [Phase(1_000, 2_000, Behaviour(**behaviour))])
        return world.reply(best, one, 1, NOON + round(1000 * second))

    well = reply(0)
    assert (well.status, well.valid) == (200, True)
    assert reply(2, errors=1.0) == reply(0.999, errors=1.0) == well
    assert reply(1, errors=1.0).status == 503
    assert reply(1, hangs=True).after_ms is None
    assert reply(1, refuses=True).status is None
    assert not reply(1, invalid=1.0).valid
    assert reply(1, slower=8.0).first_token_ms == pytest.approx(8 * well.first_token_ms, rel=0.02)
    assert reply(1, per_second=0, retry_after_ms=5_000).retry_after_ms == 5_000


def test_a_figure_reaches_decisions_within_a_second() -> None:
    best = next(iter(OUTAGE.faulty(operations(2, 500))))
    ours = Ours(NOON)
    slow = ReportedAttempt(attempt_id="1", endpoint_id=best, latency_ms=9_000, time_to_first_token_ms=9_000)
    for number in range(5):
        ours.tell(Picked(f"{number:032x}", NOON, ((best, 900),)), (slow,), "accepted", NOON + 10)
    for beat in range(0, 1000, strategies.BEAT_MS):
        ours.beat(NOON + beat)
    index = ours.router.catalog().index
    assert index.endpoints[index.position[best]].latency_ms == 9_000


def test_the_page_tells_of_every_scenario_and_keeps_what_is_around(
    compared: Compared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "simulation.md")
    monkeypatch.setattr(page, "CHART", tmp_path / "simulation.svg")
    page.PAGE.write_text(f"before\n{page.BEGIN}\nof old\n{page.END}\nafter\n", encoding="utf-8")
    every = {(one.name, name): compared[OUTAGE.name, name] for one in SCENARIOS for name in COMPARED}
    page.write(every | compared, (1,))
    text = page.PAGE.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "of old" not in text
    assert all(text.count(f"| {one.name} |") >= 7 for one in SCENARIOS)
    assert page.CHART.read_text(encoding="utf-8").count("<polyline") == len(COMPARED)


def test_spreads_know_what_never_was() -> None:
    assert page.spread([1.0, 3.0, 2.0], 1) == "2.0 (1.0–3.0)"
    assert page.spread([1.0, None, 2.0], 0) == "2 (1–never)"
    assert page.spread([None, None, 2.0], 0) == "never (2–never)"
    assert page.spread([None], 0) == "never"


def test_the_benchmark_s_section(compared: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "compare", lambda *_: compared)
    (section,) = bench.run(quick=True)
    assert "this router" in section.text
