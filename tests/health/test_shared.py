"""Several instances over one store: nothing is lost, and nothing counts twice."""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import Any

import pytest

from router_service.domain.thresholds import Thresholds
from router_service.health.shared import SharedHealth
from router_service.health.state import Health, observe
from router_service.store.interface import State, StoreLost, Swapped
from tests.health.events import DEFAULTS, NOW, seen
from tests.health.sharing import Slow, agree, fail, instances
from tests.memory_store import MemoryStore

# Nothing opens a circuit, so that every event counts whatever the order.
NEVER = Thresholds(failures_in_row=1000, least_attempts=10**6, invalid_in_row=1000, invalid_least=10**6)
IDS = ("a@x", "b@x", "c@x")


def counts(health: Health) -> dict[str, float]:
    """What does not depend on the order of events."""
    window = health.circuit.window
    return {
        "errors": health.errors.count,
        "latencies": health.latency.count,
        "attempts": sum(one.attempts for one in window),
        "failures": sum(one.failures for one in window),
        "invalid": sum(one.invalid for one in window),
    }


class Lives:
    """Instances that learn, push and pull as chance will have it; `told` is all that they learned, in its order."""

    def __init__(self, seed: int, losses: float) -> None:
        self.rng = random.Random(seed)
        self.store = Slow(rng=self.rng, losses=losses)
        self.members = instances(self.store, self.rng.choice([2, 3, 5]), NEVER)
        self.now = NOW
        self.told: list[tuple[str, Any, int]] = []

    async def all_of_them(self) -> None:
        await asyncio.gather(*(work(one) for one in self.members for work in (self._live, self._beat)))
        self.store.losses = 0.0
        await agree(*self.members)

    def whole(self, endpoint_id: str) -> Health:
        """All of it in one health."""
        health = Health()
        for key, what, at in self.told:
            if key == endpoint_id:
                health = observe(health, what, at, NEVER)
        return health

    async def _live(self, one: SharedHealth) -> None:
        for _ in range(60):
            self.now += self.rng.choice([0, 1, 40])
            if self.rng.random() < 0.6:
                self._learn(one)
            else:
                with contextlib.suppress(StoreLost):
                    way = self.rng.choice(["pull", "push", "some"])
                    await (one.pull() if way == "pull" else one.push({self.rng.choice(IDS)} if way == "some" else None))
            await asyncio.sleep(0)

    def _learn(self, one: SharedHealth) -> None:
        rng, now = self.rng, self.now
        effect = rng.choice(["success", "failure", "invalid", "none", "suppressed"])
        at, pause = now - rng.choice([0, 5, 300]), rng.choice([0, 0, 90_000])
        what = seen(effect, now, at=at, latency_ms=rng.randrange(100, 900), suppress_for_ms=pause)
        endpoint_id = rng.choice(IDS)
        self.told.append((endpoint_id, what, now))
        one.board.observe(endpoint_id, what, now)

    async def _beat(self, one: SharedHealth) -> None:
        for _ in range(15):
            with contextlib.suppress(StoreLost):
                await one.pull()
                await one.push()


@pytest.mark.parametrize("losses", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(12))
async def test_nothing_is_lost_and_nothing_counts_twice(seed: int, losses: float) -> None:
    lives = Lives(seed, losses)
    await lives.all_of_them()
    for endpoint_id in IDS:
        whole = lives.whole(endpoint_id)
        one, *others = (member.board.health(endpoint_id) for member in lives.members)
        assert all(other == one for other in others)
        assert counts(one) == counts(whole)
        assert one.latency.value == pytest.approx(whole.latency.value, rel=0.01)
        assert one.errors.value == pytest.approx(whole.errors.value, rel=0.01, abs=0.005)
        assert one.suppressed == whole.suppressed


async def test_an_answer_that_a_look_at_the_store_overtakes_counts_once() -> None:
    store = Slow(rng=random.Random(1))
    for _ in range(50):
        [one] = instances(store, 1)
        fail(one, times=3)
        await asyncio.gather(one.push(), one.pull(), one.pull(), one.push())
        health = one.board.health("a@x")
        assert health.errors.count == 3
        assert health.circuit.opened is None
        store.shared.clear()


async def test_a_write_that_was_made_though_its_answer_was_lost_counts_once() -> None:
    """Also where another instance wrote over it before anybody heard of it."""

    class Lossy(MemoryStore):
        async def swap(self, changes: Any) -> tuple[Swapped, ...]:
            answer = await super().swap(changes)
            if self.calls == 1:
                raise StoreLost("the answer")
            return answer

    one, other = instances(Lossy(), 2)
    fail(one, times=3)
    with pytest.raises(StoreLost):
        await one.push()
    await other.pull()
    other.board.observe("a@x", seen("invalid", NOW + 1), NOW + 1)
    one.board.observe("a@x", seen("failure", NOW + 2), NOW + 2)
    await agree(other, one)
    await agree(other)
    assert counts(one.board.health("a@x")) == counts(other.board.health("a@x"))
    assert one.board.health("a@x").errors.count == 5


async def test_events_that_come_during_a_write_are_shared_after_it_however_many_they_are() -> None:
    one, other = instances(Slow(rng=random.Random(2)), 2, NEVER)
    for number in range(1500):
        one.board.observe("a@x", seen("success", NOW + number), NOW + number)
    writing = asyncio.create_task(one.push())
    for number in range(300):
        await asyncio.sleep(0)
        one.board.observe("a@x", seen("success", NOW + 2000 + number), NOW + 2000 + number)
    await writing
    await agree(one, other)
    assert other.board.health("a@x").errors.count == one.board.health("a@x").errors.count == 1800


async def test_while_the_store_is_lost_each_goes_on_and_afterwards_they_agree() -> None:
    store = MemoryStore()
    one, other = instances(store, 2)
    await agree(one, other)
    store.lost = True
    fail(one, times=2)
    fail(other, times=4)
    for each in (one, other):
        with pytest.raises(StoreLost):
            await each.push()
    assert one.board.health("a@x").errors.count == 2
    store.lost = False
    await agree(one, other)
    await agree(one)
    assert one.board.health("a@x") == other.board.health("a@x")
    assert one.board.health("a@x").errors.count == 6
    assert one.board.health("a@x").circuit.opened is not None


async def test_a_store_that_comes_back_empty_gets_what_is_known() -> None:
    store = MemoryStore()
    one, other = instances(store, 2)
    fail(one)
    await one.set_by_hand("b@x", "down", "disk", NOW)
    await agree(one, other)
    store.shared.clear()
    for each in (one, other):
        each.board.observe("a@x", seen("none", NOW + 1), NOW + 1)
        each.board.set_by_hand("b@x", "down", "still", NOW + 1)
    await agree(one, other)
    [late] = instances(store, 1)
    await late.pull()
    for each in (one, other, late):
        assert each.board.health("a@x").circuit.opened is not None
        assert each.board.health("a@x").errors.count == 5
        assert each.board.health("b@x").by_hand is not None


async def test_a_state_that_cannot_be_read_hinders_no_other() -> None:
    store = MemoryStore()
    await store.swap([State("a@x", 0, b'{"health": {"circuit": 7}}')])
    one, other = instances(store, 2)
    fail(other, "b@x")
    await agree(other, one)
    assert one.board.health("b@x").circuit.opened is not None
    fail(one)
    await agree(one, other)
    assert other.board.health("a@x").circuit.opened is not None


async def test_a_success_that_another_told_first_still_ends_the_row_of_earlier_failures() -> None:
    one, other = instances(MemoryStore(), 2)
    for late in (100, 150, 200):
        one.board.observe("a@x", seen("failure", NOW + late), NOW + late)
    other.board.observe("a@x", seen("success", NOW + 300), NOW + 300)
    await agree(other, one)
    fail(one, now=NOW + 400, times=2)
    await agree(one, other)
    for each in (one, other):
        assert each.board.health("a@x").circuit.opened is None
        assert len(each.board.health("a@x").circuit.failures.bad) == 2
        assert each.board.health("a@x").errors.count == 6


async def test_without_a_store_each_decision_is_this_instances_alone() -> None:
    one = SharedHealth()
    fail(one)
    assert one.take(["a@x"], "t", NOW + DEFAULTS.open_ms) == {"a@x"}
    assert one.take(["a@x"], "other", NOW + DEFAULTS.open_ms) == set()
    assert not await one.set_by_hand("a@x", "down", "", NOW)
    await one.pull()
    await one.push()
