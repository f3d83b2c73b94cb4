"""Several stores and several processes at once, and processes that are killed: money adds up in any interleaving."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from pathlib import Path

import pytest

from router_service.store.interface import Spending, Taken
from tests.store.conftest import Shared
from tests.store.user import said, wanted
from tests.store.values import CENT, DAY, MINUTE, NOW, attempt, report, reservation

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
        taken = await asyncio.gather(*(store.report(said(one)) for one in ids))
        for trace_id, one in zip(ids, taken, strict=True):
            assert one == Taken(0, 2) or (one == Taken(2, 0) and trace_id not in told["reported"])
    assert await store.spending("p", DAY) == Spending(37 * len(told["begun"]), 0)


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
