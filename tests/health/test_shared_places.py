"""Several instances over one store: a place at a half-open endpoint is had by one decision of all."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest

from router_service.domain.thresholds import Thresholds
from router_service.health.shared import SharedHealth
from router_service.store.interface import Swapped
from tests.health.events import DEFAULTS, NOW, seen
from tests.health.sharing import Slow, agree, fail, instances
from tests.memory_store import MemoryStore

OPEN = DEFAULTS.open_ms


async def half_open(members: list[SharedHealth]) -> int:
    """Opens a circuit that all know; the instant at which it is half-open."""
    fail(members[0])
    await agree(*members)
    return NOW + OPEN


@pytest.mark.parametrize("probes", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 4])
async def test_of_a_hundred_at_once_as_many_get_a_place_as_there_may_be(count: int, probes: int) -> None:
    for seed in range(5):
        members = instances(Slow(rng=random.Random(seed)), count, Thresholds(probes=probes))
        now = await half_open(members)

        async def ask(number: int, members: list[SharedHealth] = members, now: int = now) -> bool:
            one = members[number % len(members)]
            await asyncio.sleep(0)
            got = one.take(["a@x"], f"t{number}", now)
            return "a@x" in (got if isinstance(got, set) else await got)

        granted = await asyncio.gather(*map(ask, range(100)))
        assert sum(granted) == probes
        await agree(*members)
        assert {len(one.board.health("a@x").circuit.places) for one in members} == {probes}


@pytest.mark.parametrize("seed", range(10))
async def test_there_are_never_more_places_in_use_than_there_may_be(seed: int) -> None:
    rng = random.Random(seed)
    probes, count = rng.choice([1, 2, 3]), rng.choice([2, 3, 6])
    members = instances(Slow(rng=rng), count, Thresholds(probes=probes))
    now = await half_open(members)
    in_use, most = 0, 0
    ways = Counter[str]()

    async def ask(number: int) -> None:
        nonlocal in_use, most
        one, trace_id = rng.choice(members), f"t{number}"
        for _ in range(rng.randrange(30)):
            await asyncio.sleep(0)
        got = one.take(["a@x"], trace_id, now)
        if "a@x" not in (got if isinstance(got, set) else await got):
            ways["none"] += 1
            return
        in_use += 1
        most = max(most, in_use)
        for _ in range(rng.randrange(10)):
            await asyncio.sleep(0)
        in_use -= 1
        way = rng.choice(["left", "reported", "elsewhere"])
        ways[way] += 1
        if way == "left":
            one.leave(trace_id, now)
        else:  # its report may come to any instance, even one that has not heard of the place yet
            teller = one if way == "reported" else rng.choice(members)
            teller.board.observe("a@x", seen("none", now, trace_id=trace_id), now)

    async def beat(one: SharedHealth) -> None:
        for _ in range(40):
            await one.pull()
            await one.push()

    await asyncio.gather(*map(ask, range(150)), *map(beat, members))
    await agree(*members)
    await agree(*members)
    assert 0 < most <= probes
    assert ways["left"] + ways["reported"] + ways["elsewhere"] > probes
    assert {one.board.health("a@x").circuit.places for one in members} == {()}


async def test_a_place_that_cannot_be_agreed_on_is_none() -> None:
    """The others were quicker each time; nothing of it stays."""

    class Busy(MemoryStore):
        busy = False

        async def swap(self, changes: Any) -> tuple[Swapped, ...]:
            if self.busy:  # the same once more, in a newer version
                await super().swap([self.shared[one.key] for one in changes])
            return await super().swap(changes)

    store = Busy()
    [one] = instances(store, 1)
    now = await half_open([one])
    store.busy = True
    got = one.take(["a@x"], "t", now)
    assert not isinstance(got, set)
    assert await got == set()
    assert one.board.health("a@x").circuit.places == ()
    assert not await one.set_by_hand("a@x", "down", "", now)


async def test_a_lost_store_leaves_the_place_to_each_instance() -> None:
    store = MemoryStore()
    members = instances(store, 2)
    now = await half_open(members)
    store.lost = True
    for number, one in enumerate(members):
        got = one.take(["a@x"], f"t{number}", now)
        assert not isinstance(got, set)
        assert await got == {"a@x"}
        assert one.take(["a@x"], f"more{number}", now) == set()
