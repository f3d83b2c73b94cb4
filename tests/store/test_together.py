"""Several stores and several processes at once, and processes that are killed: money adds up in any interleaving."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

from router_service.store.interface import Spending
from tests.store.conftest import Shared
from tests.store.user import SHARED, count_of, said, wanted
from tests.store.values import CENT, DAY, MINUTE, NOW, attempt, report, reservation, taken

ROOT = Path(__file__).parents[2]
ROUNDS, AT_ONCE = 7, 3


async def start(shared: Shared, file: Path, name: str, how_many: int, what: str) -> asyncio.subprocess.Process:
    arguments = ("-m", "tests.store.user", shared.url, shared.prefix, str(file), name, str(how_many), what)
    return await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT)


async def test_two_processes_admit_as_many_as_fit(shared: Shared, tmp_path: Path) -> None:
    file = tmp_path / "said"
    processes = [await start(shared, file, f"process{n}", 50, "reserve") for n in range(2)]
    assert [await process.wait() for process in processes] == [0, 0]
    lines = file.read_text().splitlines()
    assert len(lines) == 100
    assert sum(line.startswith("made") for line in lines) == 50
    store = await shared.open()
    assert await store.spending("p", DAY) == Spending(0, 50 * CENT)


@pytest.mark.parametrize("shared", ["sqlite", "redis"], indirect=True)
async def test_no_kill_loses_or_doubles_anything(shared: Shared, tmp_path: Path) -> None:
    chance = random.Random(1)
    file = tmp_path / "said"
    file.touch()
    for round_ in range(ROUNDS):
        before = file.stat().st_size
        processes = [await start(shared, file, f"r{round_}p{n}", 10**9, "report") for n in range(AT_ONCE)]
        while file.stat().st_size == before:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
        for process in processes:
            await asyncio.sleep(chance.uniform(0.05, 0.3))
            process.kill()
            assert await process.wait() == -signal.SIGKILL
    told: dict[str, set[str]] = {"begun": set(), "reserved": set(), "reported": set()}
    for line in file.read_text().splitlines():
        what, trace_id = line.split()
        told[what].add(trace_id)
    assert len(told["reported"]) > 100
    store = await shared.open()
    at_first = await store.spending("p", DAY)
    # At most what had begun, and at least what was acknowledged.
    assert 37 * len(told["reported"]) <= at_first.settled <= 37 * len(told["begun"])
    # Whoever got no answer asks again; that completes what is missing, and changes nothing that is there.
    everything = sorted(told["begun"])
    for begin in range(0, len(everything), 64):
        ids = everything[begin : begin + 64]
        assert all(one.made for one in await asyncio.gather(*(store.reserve(wanted(one)) for one in ids)))
        answers = await asyncio.gather(*(store.report(said(one)) for one in ids))
        for trace_id, one in zip(ids, answers, strict=True):
            new = taken("a1", "a2")
            assert one == taken(duplicates=2) or (one == new and trace_id not in told["reported"])
    assert await store.spending("p", DAY) == Spending(37 * len(told["begun"]), 0)


def swaps_of(file: Path) -> tuple[Counter[str], dict[str, list[tuple[int, int, int]]]]:
    """By key, how many changes were begun, and (version before, version then, count) of each that was acknowledged."""
    begun: Counter[str] = Counter()
    made: dict[str, list[tuple[int, int, int]]] = {key: [] for key in SHARED}
    for line in file.read_text().splitlines():
        what, key, *numbers = line.split()
        if what == "begun":
            begun[key] += 1
        else:
            before, then, count = map(int, numbers)
            made[key].append((before, then, count))
    for each in made.values():
        # Of all that saw a version, one changed it; and what one changed another built upon.
        for column in zip(*each, strict=True):
            assert len(set(column)) == len(column)
        assert [count for _, _, count in sorted(each)] == sorted(count for _, _, count in each)
    return begun, made


async def test_of_all_who_change_a_state_one_wins_each_version(shared: Shared, tmp_path: Path) -> None:
    file = tmp_path / "said"
    processes = [await start(shared, file, f"process{n}", 90, "swap") for n in range(2)]
    assert [await process.wait() for process in processes] == [0, 0]
    _, made = swaps_of(file)
    store = await shared.open()
    assert {one.key: count_of(one) for one in await store.states(0)} == dict.fromkeys(SHARED, 60)
    assert {key: len(each) for key, each in made.items()} == dict.fromkeys(SHARED, 60)


@pytest.mark.parametrize("shared", ["sqlite", "redis"], indirect=True)
async def test_no_kill_loses_a_state_that_was_acknowledged(shared: Shared, tmp_path: Path) -> None:
    chance = random.Random(2)
    file = tmp_path / "said"
    file.touch()
    for round_ in range(3):
        before = file.stat().st_size
        processes = [await start(shared, file, f"r{round_}p{n}", 10**9, "swap") for n in range(2)]
        while file.stat().st_size == before:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
        for process in processes:
            await asyncio.sleep(chance.uniform(0.1, 0.4))
            process.kill()
            assert await process.wait() == -signal.SIGKILL
    begun, made = swaps_of(file)
    assert sum(map(len, made.values())) > 50
    store = await shared.open()
    for one in await store.states(0):
        last = max(made[one.key])
        assert one.version >= last[1]
        assert max(len(made[one.key]), last[2]) <= count_of(one) <= begun[one.key]
        if one.version == last[1]:
            assert count_of(one) == last[2]


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_money_adds_up_whatever_comes_between(shared: Shared, seed: int) -> None:
    chance = random.Random(seed)
    stores = [await shared.open(), await shared.open()]
    expected = 0
    late = NOW + 15 * MINUTE

    async def life(number: int) -> int:
        trace_id, amount = f"t{number}", chance.choice((0, 5, 10**20))
        answers = await asyncio.gather(
            *(store.reserve(reservation(trace_id, amount, budget=10**30)) for store in stores)
        )
        assert answers[0] == answers[1]
        costs = [chance.choice((0, 7, 10**21)) for _ in range(chance.randrange(3))]
        attempts = [attempt(f"a{n}", cost) for n, cost in enumerate(costs)]
        calls = [
            chance.choice(stores).report(report(trace_id, *attempts[: chance.randrange(1, len(attempts) + 1)]))
            for _ in range(4)
            if attempts
        ] + [chance.choice(stores).expire(late, 3) for _ in range(2)]
        if attempts:
            calls.append(chance.choice(stores).report(report(trace_id, *attempts)))
        chance.shuffle(calls)
        await asyncio.gather(*calls)
        return sum(costs) if attempts else amount

    expected = sum(await asyncio.gather(*(life(number) for number in range(60))))
    while await stores[0].expire(late, 100):
        pass
    assert await stores[1].spending("p", DAY) == Spending(expected, 0)
