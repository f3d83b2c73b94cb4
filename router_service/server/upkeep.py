"""What a server does beside answering: writes traces, settles what was never reported, removes what is no longer kept.

None of it is on the path of a decision; a lost store is logged once, shown in health and metrics, and tried again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from router_service.asks import Memory
from router_service.catalog.served import Served
from router_service.server.metrics import Metrics
from router_service.store.interface import StoreLost

_EXPIRE_EVERY_S = 5.0
_SWEEP_EVERY_S = 30.0
_AT_ONCE = 500
_PAUSE_S = 0.01  # between the chunks of a sweep, so that decisions' writes come between


class Upkeep:
    """The background work of one store. `on_health` is told when the store is lost or back."""

    def __init__(
        self,
        memory: Memory,
        served: Served,
        clock: Callable[[], int],
        metrics: Metrics,
        log: Any,
        on_health: Callable[[bool], Awaitable[None]],
    ) -> None:
        self._memory, self._served, self._clock = memory, served, clock
        self._metrics, self._log, self._on_health = metrics, log, on_health
        self._lost = False
        self._kept: dict[str, bytes] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Opens the store and begins; a store that cannot be opened now is tried again."""
        await self._try(self._memory.store.open)
        self._tasks = [
            asyncio.create_task(self._memory.recorder.run()),
            asyncio.create_task(self._every(_EXPIRE_EVERY_S, self._expire)),
            asyncio.create_task(self._every(_SWEEP_EVERY_S, self._sweep)),
        ]

    async def keep_catalog(self, version: str, archive: bytes) -> None:
        """Keeps a version that begins to serve, now or as soon as the store takes it."""
        self._kept[version] = archive
        await self._try(self._keep_pending)

    async def close(self) -> None:
        """Writes what is pending, and lets go of the store."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self._try(self._keep_pending)
        await self._memory.recorder.close()
        with contextlib.suppress(StoreLost):
            await self._memory.store.close()

    async def _keep_pending(self) -> None:
        for version, archive in list(self._kept.items()):
            await self._memory.store.keep_catalog(version, archive)
            del self._kept[version]

    async def _expire(self) -> None:
        await self._keep_pending()
        expired = _AT_ONCE
        while expired == _AT_ONCE:
            expired = await self._memory.store.expire(self._clock(), _AT_ONCE)
            await asyncio.sleep(_PAUSE_S)

    async def _sweep(self) -> None:
        snapshot = self._served.snapshot
        if snapshot is None:
            return
        # What is pending may refer to a version that no written trace does.
        await self._memory.recorder.flush()
        while True:
            swept = await self._memory.store.sweep(self._clock(), snapshot.version, _AT_ONCE)
            self._metrics.swept(swept.traces)
            if not swept.more:
                return
            await asyncio.sleep(_PAUSE_S)

    async def _every(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._try(work)
            await asyncio.sleep(seconds)

    async def _try(self, work: Callable[[], Awaitable[None]]) -> None:
        """Does a piece of work; tells when the store goes and when it comes back."""
        try:
            await work()
        except StoreLost as lost:
            if not self._lost:
                name = self._memory.store.name
                self._log.error("store lost, decisions go on without it", store=name, reason=str(lost))
            await self._tell(lost=True)
        else:
            if self._lost:
                self._log.info("store is back", store=self._memory.store.name)
            await self._tell(lost=False)

    async def _tell(self, *, lost: bool) -> None:
        self._lost = lost
        self._metrics.store_lost(lost=lost)
        await self._on_health(not lost)
