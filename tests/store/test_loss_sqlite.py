"""A SQLite store that is closed, locked or slow: calls are lost in time, leave nothing behind, and fail alone."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from pathlib import Path

import pytest

from router_service.store.interface import Spending, StoreLost, Timeouts, TraceQuery
from router_service.store.sqlite import SqliteStore
from tests.store.lost import PATIENT, QUICK, is_well, lost, opened
from tests.store.values import DAY, NOW, attempt, report, reservation, trace


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "router.db"


async def test_closed_or_never_opened(path: Path) -> None:
    store = SqliteStore(path, PATIENT)
    with lost("closed, or not opened"):
        await store.spending("p", DAY)
    await store.open()
    await is_well(store, "t1")
    await store.close()
    for call in (store.spending("p", DAY), store.reserve(reservation()), store.trace("t1"), store.sweep(NOW, "v", 1)):
        with lost("closed, or not opened"):
            await call
    await store.close()
    await store.open()
    await is_well(store, "t2")
    await store.close()


async def test_a_locked_file_makes_calls_wait_and_then_lost_and_none_of_them_happens_later(path: Path) -> None:
    async with opened(path) as store:
        await is_well(store, "t1")
        store._timeouts = QUICK
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        results = await asyncio.gather(
            *(store.reserve(reservation(f"lost{n}", 1)) for n in range(50)), return_exceptions=True
        )
        assert time.monotonic() - begun < 10
        assert {type(one) for one in results} == {StoreLost}
        assert "locked by another process" in str(results[0])
        # Reading goes on.
        assert await store.spending("p", DAY) == Spending(2, 0)
        assert (await store.traces(TraceQuery(), "", 10)).traces
        store._timeouts = PATIENT
        other.execute("ROLLBACK")
        other.close()
        await is_well(store, "t2")
        assert await store.spending("p", DAY) == Spending(4, 0)


async def test_calls_that_wait_for_a_lock_go_on_when_it_is_free(path: Path) -> None:
    async with opened(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        waiting = asyncio.create_task(store.reserve(reservation("t1", 1)))
        await asyncio.sleep(0.7)
        assert not waiting.done()
        other.execute("ROLLBACK")
        other.close()
        assert (await waiting).made


async def test_a_lost_call_leaves_nothing_behind(path: Path) -> None:
    async with opened(path) as store:
        store._timeouts = Timeouts(money=0.05, other=0.05)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        for _ in range(5):
            await asyncio.gather(*(store.reserve(reservation(f"t{n}", 1)) for n in range(200)), return_exceptions=True)
        queue = store._workers["write"].queue
        assert not queue._items
        assert len(asyncio.all_tasks()) == 1
        other.close()


async def test_a_cancelled_call_is_not_begun(path: Path) -> None:
    async with opened(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(store.reserve(reservation("t1", 1)))
        await asyncio.sleep(0.1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        other.close()
        await is_well(store, "t2")
        assert await store.spending("p", DAY) == Spending(2, 0)


async def test_one_that_fails_does_not_fail_those_beside_it(path: Path) -> None:
    async with opened(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        calls = [
            store.reserve(reservation("t1", 1)),
            store.reserve(reservation("t2", 1, expires_at=2**70)),
            store.reserve(reservation("t\ud800", 1)),
            store.report(report("t1", attempt(cost=5))),
            store.write_traces([trace("t1")]),
            store.write_traces([trace("t2", at=2**70)]),
            store.reserve(reservation("t3", 1)),
        ]
        waiting = [asyncio.create_task(call) for call in calls]
        await asyncio.sleep(0.2)
        other.close()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [isinstance(one, StoreLost) for one in results] == [False, True, True, False, False, True, False]
        assert await store.trace("t1") is not None
        assert await store.spending("p", DAY) == Spending(5, 1)


async def test_a_long_list_is_stopped_when_its_time_is_over(path: Path) -> None:
    async with opened(path) as store:
        for begin in range(0, 20_000, 2000):
            await store.write_traces([trace(f"t{n}", NOW + n) for n in range(begin, begin + 2000)])
    async with opened(path) as store:
        store._timeouts = Timeouts(money=30, other=0.002)
        slow = TraceQuery(endpoint_id="e/one", outcome="none")
        begun = time.monotonic()
        results = await asyncio.gather(*(store.traces(slow, "", 10) for _ in range(20)), return_exceptions=True)
        assert any(isinstance(one, StoreLost) for one in results)
        assert await store.spending("p", DAY) == Spending(0, 0)
        assert time.monotonic() - begun < 20


async def test_a_store_that_is_dropped_without_a_close_harms_nobody(path: Path) -> None:
    code = (
        "import asyncio, pathlib, sys\n"
        "from router_service.store.sqlite import SqliteStore\n"
        "store = SqliteStore(pathlib.Path(sys.argv[1]))\n"
        "asyncio.run(store.open())\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(path), stderr=asyncio.subprocess.PIPE
    )
    _, said = await asyncio.wait_for(process.communicate(), 20)
    assert (process.returncode, said) == (0, b"")
