"""The upkeep of a store: what it and a load do at once."""

from __future__ import annotations

import asyncio

from router_service.asks import Memory
from router_service.catalog.served import Served
from router_service.server.log import make_logger
from router_service.server.metrics import Metrics
from router_service.server.upkeep import Upkeep
from router_service.store.watched import WatchedStore
from router_service.wire.trace import CODEC
from tests.builders import NOW
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


async def test_a_version_is_kept_by_a_load_and_by_a_round_of_the_upkeep_at_once() -> None:
    slow = Slow()
    store = WatchedStore(slow)
    memory = Memory.of(store, CODEC, lambda _: None)
    upkeep = Upkeep(memory, store, Served(), lambda: NOW, Metrics(), make_logger("critical", "json"), _told)
    keeping = [asyncio.create_task(upkeep.keep_catalog("v", b"archive")) for _ in range(2)]
    for _ in keeping:
        await slow.asked.acquire()
    slow.let.set()
    await asyncio.gather(*keeping)
    assert await slow.catalog("v") == b"archive"
