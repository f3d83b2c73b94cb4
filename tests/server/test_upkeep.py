"""The upkeep of a store: what it and a load do at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from router_service.asks import Memory
from router_service.catalog.content import Content
from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.domain.policy import Policy
from router_service.server.log import make_logger
from router_service.server.metrics import Metrics
from router_service.server.upkeep import Upkeep
from router_service.store.watched import WatchedStore
from router_service.wire.trace import CODEC
from tests.builders import NOW, endpoint
from tests.memory_store import MemoryStore


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


def _upkeep(store: MemoryStore, served: Served, clock: Callable[[], int] = lambda: NOW) -> Upkeep:
    watched = WatchedStore(store)
    memory = Memory.of(watched, CODEC, lambda _: None)
    return Upkeep(memory, watched, served, clock, Metrics(), make_logger("critical", "json"), _told)


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
