"""Health states: each change is made by one of those who saw the same version, and whoever polls misses none."""

from __future__ import annotations

import asyncio
import random

import pytest

from router_service.store.interface import SWAPS_MAX, State, Store, StoreLost, Swapped
from router_service.store.watched import WatchedStore
from tests.memory_store import MemoryStore
from tests.store.conftest import Shared
from tests.store.user import SHARED, count_of, counted


async def put(store: Store, key: str, body: bytes = b"up", version: int = 0) -> State:
    """Makes a change that fits."""
    [swapped] = await store.swap([State(key, version, body)])
    assert swapped.made
    assert (swapped.state.key, swapped.state.body) == (key, body)
    assert swapped.state.version > version
    return swapped.state


async def test_nothing_is_there_at_first(store: Store) -> None:
    assert await store.states(0) == ()
    assert await store.swap([]) == ()


async def test_a_state_comes_back_as_it_was_written(store: Store) -> None:
    bodies = {"e/ä🙂:{}": bytes(range(256)), "e'\"": b"", "v": b"\x00", "big": bytes(range(256)) * 1000}
    made = [await put(store, key, body) for key, body in bodies.items()]
    assert await store.states(0) == tuple(made)
    assert [(one.key, one.body) for one in made] == list(bodies.items())


async def test_versions_are_one_growing_number_over_all_keys(store: Store) -> None:
    one, two = await put(store, "one"), await put(store, "two")
    three = await put(store, "one", b"down", one.version)
    assert one.version < two.version < three.version
    assert await store.states(0) == (two, three)
    assert await store.states(one.version) == (two, three)
    assert await store.states(two.version) == (three,)
    assert await store.states(three.version) == ()


async def test_one_that_was_changed_meanwhile_is_told_and_stays(store: Store) -> None:
    first = await put(store, "e")
    second = await put(store, "e", b"down", first.version)
    for version in (0, first.version, second.version + 1, second.version - 1, 2**60, -1):
        assert await store.swap([State("e", version, b"other")]) == (Swapped(False, second),)
    assert await store.states(0) == (second,)


async def test_one_that_is_not_there_has_version_0(store: Store) -> None:
    assert await store.swap([State("e", 7, b"up")]) == (Swapped(False, State("e", 0, b"")),)
    assert await store.states(0) == ()


async def test_an_empty_body_is_kept(store: Store) -> None:
    gone = await put(store, "e", b"", (await put(store, "e")).version)
    assert await store.states(0) == (gone,)
    assert await store.swap([State("e", 0, b"up")]) == (Swapped(False, gone),)


async def test_the_same_again_says_what_it_had_done(store: Store) -> None:
    state = await put(store, "e", b"mine")
    [again] = await store.swap([State("e", 0, b"mine")])
    assert again == Swapped(False, state)


async def test_each_change_of_a_call_stands_alone_and_they_go_in_order(store: Store) -> None:
    old = await put(store, "old")
    answers = await store.swap(
        [
            State("new", 0, b"1"),
            State("old", old.version + 1, b"2"),
            State("new", 0, b"3"),
            State("old", old.version, b"4"),
            State("old", old.version, b"5"),
        ]
    )
    assert [one.made for one in answers] == [True, False, False, True, False]
    assert [one.state.body for one in answers] == [b"1", b"up", b"1", b"4", b"4"]
    assert await store.states(0) == (answers[0].state, answers[3].state)


async def test_as_many_as_may_come_at_once(store: Store) -> None:
    changes = [State(f"e/{number}", 0, b"body" * 50) for number in range(SWAPS_MAX)]
    answers = await store.swap(changes)
    assert all(one.made for one in answers)
    states = tuple(one.state for one in answers)
    assert [one.key for one in states] == [one.key for one in changes]
    assert [one.version for one in states] == sorted({one.version for one in states})
    assert await store.states(0) == states
    assert await store.states(states[-2].version) == states[-1:]
    assert await store.swap(changes) == tuple(Swapped(False, one) for one in states)


async def test_of_many_at_once_one_wins(shared: Shared) -> None:
    stores = [await shared.open(), await shared.open()]
    version = 0
    for round_ in range(20):
        answers = await asyncio.gather(
            *(stores[number % 2].swap([State("e", version, f"{round_}:{number}".encode())]) for number in range(10))
        )
        [winner] = [one.state for [one] in answers if one.made]
        assert all(one.state == winner for [one] in answers)
        version = winner.version


async def test_who_polls_sees_the_last_of_every_key_and_none_twice(shared: Shared) -> None:
    writing, reading = await shared.open(), await shared.open()
    chance = random.Random(1)
    known = {key: State(key, 0, b"") for key in SHARED}
    seen: list[State] = []

    async def write() -> None:
        for number in range(300):
            keys = chance.sample(SHARED, chance.randrange(1, 3))
            for one in await writing.swap([counted(known[key], str(number)) for key in keys]):
                known[one.state.key] = one.state

    async def poll() -> None:
        seen.extend(await reading.states(seen[-1].version if seen else 0))

    task = asyncio.create_task(write())
    while not task.done():
        await poll()
    await poll()
    assert [one.version for one in seen] == sorted({one.version for one in seen})
    last = {one.key: one for one in seen}
    assert last == known
    assert sum(map(count_of, known.values())) >= 300


async def test_a_store_that_was_lost_is_back_when_a_change_is_made() -> None:
    memory, told = MemoryStore(), list[StoreLost | None]()
    store = WatchedStore(memory)
    store.tell = told.append
    await store.swap([State("e", 0, b"up")])
    memory.lost = True
    for call in (store.states(0), store.swap([State("e", 0, b"up")])):
        with pytest.raises(StoreLost) as caught:
            await call
        assert told[-1] is caught.value
    memory.lost = False
    # Neither a look nor a change that was not made has written anything.
    [kept] = await store.states(0)
    assert await store.swap([State("e", 0, b"down")]) == (Swapped(False, kept),)
    assert store.is_lost
    assert (await store.swap([State("e", kept.version, b"down")]))[0].made
    assert told[-1] is None
