"""The upkeep of a store: what it and a load do at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence

import pytest

from router_service.asks import Memory
from router_service.catalog.content import Content
from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.domain.policy import Policy
from router_service.server.drain import flushed
from router_service.server.log import make_logger
from router_service.server.metrics import Metrics
from router_service.server.upkeep import Upkeep
from router_service.store.interface import Trace
from router_service.store.watched import WatchedStore
from router_service.wire.trace import CODEC
from tests.builders import NOW, endpoint
from tests.memory_store import MemoryStore
from tests.server.live import until
from tests.traces.test_figures_kept import record


class Slow(MemoryStore):
    """A store in memory that keeps a version only when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.let = asyncio.Semaphore(0), asyncio.Event()

    async def keep_catalog(self, version: str, body: bytes) -> None:
        self.asked.release()
        await self.let.wait()
        await super().keep_catalog(version, body)


async def _told(healthy: bool) -> None: ...


def _upkeep(
    store: MemoryStore,
    served: Served,
    clock: Callable[[], int] = lambda: NOW,
    dropped: Callable[[int], None] = lambda _: None,
    level: str = "critical",
) -> Upkeep:
    watched = WatchedStore(store)
    memory = Memory.of(watched, CODEC, dropped)
    return Upkeep(memory, watched, served, clock, Metrics(), make_logger(level, "json"), _told)


async def test_a_version_is_kept_by_a_load_and_by_a_round_of_the_upkeep_at_once() -> None:
    slow = Slow()
    upkeep = _upkeep(slow, Served())
    keeping = [asyncio.create_task(upkeep.keep_catalog("v", b"archive")) for _ in range(2)]
    for _ in keeping:
        await slow.asked.acquire()
    slow.let.set()
    await asyncio.gather(*keeping)
    assert await slow.catalog("v") == b"archive"


async def test_what_serves_here_alone_is_kept_again_when_another_swept_it_after_a_leap_of_the_clock() -> None:
    store, now = MemoryStore(), NOW
    content = Content(currency="EUR", endpoints=(endpoint("m@p"),), policies=(Policy.read({"policy_id": "p"}),))
    snapshot = Snapshot.of(content, NOW)
    upkeep = _upkeep(store, Served(snapshot), lambda: now)
    await upkeep.keep_catalog(snapshot.version, b"archive")
    await upkeep._sweep()
    now += 26 * 3600 * 1000
    await store.sweep(now, "what serves there", 100)
    assert await store.catalog(snapshot.version) is None
    await upkeep._sweep()
    assert await store.catalog(snapshot.version) == b"archive"


async def test_what_is_pending_at_the_end_is_written_when_the_store_is_back_in_time() -> None:
    store, dropped = MemoryStore(), list[int]()
    upkeep = _upkeep(store, Served(), dropped=dropped.append)
    store.lost = True
    upkeep._memory.recorder.record(record(1, NOW))
    closing = asyncio.create_task(upkeep.close())
    await asyncio.sleep(0.1)
    assert not closing.done()
    store.lost = False
    await asyncio.wait_for(closing, 10)
    assert len(store.written) == 1
    assert (upkeep.give_up(), dropped) == (0, [])


async def test_with_nothing_to_write_a_lost_store_is_not_waited_for() -> None:
    store = MemoryStore()
    upkeep = _upkeep(store, Served())
    store.lost = True
    await upkeep.keep_catalog("v", b"archive")
    await asyncio.wait_for(upkeep.close(), 1)
    assert store.catalogs == {}


async def test_what_a_lost_store_did_not_take_is_counted_and_told(capfd: pytest.CaptureFixture[str]) -> None:
    store, dropped = MemoryStore(), list[int]()
    upkeep = _upkeep(store, Served(), dropped=dropped.append)
    store.lost = True
    for number in range(3):
        upkeep._memory.recorder.record(record(number, NOW))
    at_once = asyncio.Event()
    at_once.set()
    await flushed(upkeep.close(), at_once, make_logger("error", "json"), upkeep.give_up)
    said = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    told = [one["lost"] for one in said if one["event"] == "the store did not take in time what was pending"]
    assert (told, dropped) == ([3], [3])
    assert upkeep.give_up() == 0


async def test_what_a_fault_kept_from_being_written_is_told_too(capfd: pytest.CaptureFixture[str]) -> None:
    async def faulty() -> None:
        raise ValueError("a fault")

    with pytest.raises(ValueError, match="a fault"):
        await flushed(faulty(), asyncio.Event(), make_logger("error", "json"), lambda: 7)
    assert '"lost":7' in capfd.readouterr().err


class Faulty(MemoryStore):
    """A store with a fault of its own at the first traces."""

    faults = 0

    async def write_traces(self, traces: Sequence[Trace]) -> None:
        if not self.faults:
            self.faults += 1
            raise ValueError("no store should raise this")
        await super().write_traces(traces)


async def test_a_fault_in_writing_does_not_end_the_writing(capfd: pytest.CaptureFixture[str]) -> None:
    store = Faulty()
    upkeep = _upkeep(store, Served(), level="error")
    await upkeep.start()
    upkeep._memory.recorder.record(record(1, NOW))

    async def written() -> bool:
        return len(store.written) == 1

    await until(written)
    await upkeep.close()
    assert capfd.readouterr().err.count('"event":"fault in the upkeep of the store"') == 1
