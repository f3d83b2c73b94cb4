"""Turns: who has more than its share of a busy loop waits, and nobody else does. On a clock set by hand."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import pytest

from router_service.server.turns import BUSY, FREE, OVERHEAD_S, TICK_S, Turns, thread_busy_s

CALL_S = 0.0001
# So many calls of one caller take less of a tick than what never waits.
LITTLE = int(FREE * TICK_S / (CALL_S + OVERHEAD_S)) - 1


class Loop:
    """A clock and what the loop's thread was busy for; `turns` believe both. `order` has whose turn it was."""

    def __init__(self) -> None:
        self.now, self.busy_s = 100.0, 0.0
        self.order: list[str] = []
        self.turns = Turns(lambda: self.now, lambda: self.busy_s)

    def pass_time(self, seconds: float, busy: float) -> None:
        self.now += seconds
        self.busy_s += seconds * busy

    def tick(self, calls: dict[str, int], busy: float) -> dict[str, int]:
        """Calls of a tick; how many of each caller have to wait."""
        self.pass_time(TICK_S, busy)
        waiting = dict.fromkeys(calls, 0)
        for caller, count in calls.items():
            for _ in range(count):
                turn = self.turns.wanted(caller, self.now)
                if turn is None:
                    self.turns.took(caller, CALL_S)
                else:
                    waiting[caller] += 1
                    turn.add_done_callback(partial(self._had, caller))
        return waiting

    async def given(self, busy: float) -> int:
        """How many turns are given in a tick."""
        before = len(self.order)
        for _ in range(10):
            self.pass_time(TICK_S / 10, busy)
            self.turns._pump()
        await asyncio.sleep(0)
        return len(self.order) - before

    @property
    def waits(self) -> bool:
        return bool(self.turns._queues)

    def _had(self, caller: str, _turn: object) -> None:
        self.order.append(caller)


@pytest.fixture
def loop() -> Loop:
    return Loop()


async def test_nobody_waits_while_there_is_time_to_spare(loop: Loop) -> None:
    for _ in range(20):
        assert loop.tick({"heavy": 500, "light": 1}, BUSY - 0.05) == {"heavy": 0, "light": 0}


async def test_one_caller_alone_never_waits(loop: Loop) -> None:
    for _ in range(20):
        assert loop.tick({"heavy": 500}, 1.0) == {"heavy": 0}


async def test_callers_with_equal_parts_do_not_wait(loop: Loop) -> None:
    for _ in range(20):
        assert not any(loop.tick({str(one): 40 for one in range(16)}, 1.0).values())


async def test_on_a_busy_loop_who_has_more_than_its_share_waits_and_who_has_less_does_not(loop: Loop) -> None:
    loop.tick({"heavy": 100, "light": 2}, 1.0)
    loop.tick({"heavy": 100, "light": 2}, 1.0)
    waiting = loop.tick({"heavy": 100, "light": 2}, 1.0)
    assert waiting["light"] == 0
    assert waiting["heavy"] >= 30
    # While some of its calls wait, so do all that come after them.
    assert loop.tick({"heavy": 5, "light": LITTLE}, 1.0) == {"heavy": 5, "light": 0}


async def test_a_caller_that_comes_seldom_is_remembered(loop: Loop) -> None:
    """Its calls are few and far between, and the other's must have given way already when the next one comes."""
    loop.tick({"light": 1}, 1.0)
    assert any([loop.tick({"heavy": 100}, 1.0)["heavy"] for _ in range(30)][-1:])


async def test_turns_come_one_of_each_caller(loop: Loop) -> None:
    waiting = dict.fromkeys(("a", "b", "light"), 0)
    for _ in range(4):
        for caller, count in loop.tick({"a": 200, "b": 200, "light": 1}, 1.0).items():
            waiting[caller] += count
    assert waiting["light"] == 0
    while loop.waits:
        await loop.given(0.1)
    assert {one: loop.order.count(one) for one in waiting} == waiting
    least = min(waiting["a"], waiting["b"])
    assert all(abs(loop.order[:at].count("a") - loop.order[:at].count("b")) <= 1 for at in range(2 * least))


async def test_turns_come_slower_while_the_loop_is_busy_and_faster_when_it_has_time(loop: Loop) -> None:
    for _ in range(20):
        loop.tick({"heavy": 200, "light": 1}, 1.0)
    busy = [await loop.given(1.0) for _ in range(6)]
    spare = [await loop.given(0.1) for _ in range(12)]
    assert busy[-1] < busy[0]
    assert spare[-1] > busy[-1]
    assert busy[-1] > 0


async def test_once_all_had_their_turn_nobody_waits_any_more(loop: Loop) -> None:
    for _ in range(4):
        loop.tick({"heavy": 100, "light": 1}, 1.0)
    assert loop.waits
    while loop.waits:
        await loop.given(0.1)
    for _ in range(200):  # what held back the loop is let go of little by little
        loop.tick({"light": 1}, 0.1)
    assert loop.tick({"heavy": 500, "light": 1}, 0.1) == {"heavy": 0, "light": 0}


async def test_a_call_that_its_caller_gave_up_takes_no_turn(loop: Loop) -> None:
    for _ in range(4):
        loop.tick({"heavy": 100, "light": 1}, 1.0)
    turns = [turn for queue in loop.turns._queues.values() for turn in queue]
    for turn in turns[:-1]:
        turn.cancel()
    await loop.given(1.0)
    assert turns[-1].done()
    assert not turns[-1].cancelled()


async def test_what_is_remembered_of_callers_that_are_gone_is_forgotten(loop: Loop) -> None:
    for number in range(2_000):
        loop.tick({str(number): 1}, 0.1)
    assert len(loop.turns._last_tick) <= 201


def test_a_thread_that_works_is_busy_and_one_that_sleeps_is_not() -> None:
    told = thread_busy_s()
    start = told()
    until = time.thread_time() + 0.05
    while time.thread_time() < until:
        pass
    worked = told() - start
    time.sleep(0.2)
    slept = told() - start - worked
    assert worked >= 0.04
    assert slept < worked
