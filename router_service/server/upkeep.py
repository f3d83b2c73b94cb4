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
from router_service.domain.money import MILLION
from router_service.server.metrics import Metrics
from router_service.server.states import BUDGETS_MAX, Budget
from router_service.store.interface import GRACE_MS, StoreLost
from router_service.store.watched import WatchedStore

_EXPIRE_EVERY_S = 5.0
_LEASES_EVERY_S = 1.0
_SWEEP_EVERY_S = 30.0
_BUDGETS_EVERY_S = 10.0
_AT_ONCE = 500
_PATIENCE_S = 1.0  # after a fault, and between the last tries while the store is lost
_PAUSE_S = 0.01  # between the chunks of a sweep, so that decisions' writes come between
# Sweeps are seconds apart; where the clock says so much, it was set, or the machine slept.
_LEAP_MS = GRACE_MS // 2


class Upkeep:
    """The background work of one store. `on_health` is told when the store is lost or back."""

    def __init__(
        self,
        memory: Memory,
        store: WatchedStore,
        served: Served,
        clock: Callable[[], int],
        metrics: Metrics,
        log: Any,
        on_health: Callable[[bool], Awaitable[None]],
    ) -> None:
        self._memory, self._store, self._served, self._clock = memory, store, served, clock
        self._metrics, self._log, self._on_health = metrics, log, on_health
        self._kept: dict[str, bytes] = {}
        self._serving: tuple[str, bytes] | None = None
        self._swept_at = clock()
        self._tasks: list[asyncio.Task[None]] = []
        self._telling: set[asyncio.Future[None]] = set()
        self._logged = False
        store.tell = self._told

    async def start(self) -> None:
        """Opens the store and begins; a store that cannot be opened now is tried again."""
        with contextlib.suppress(StoreLost):
            await self._store.open()
        if not self._store.is_lost:
            await self._on_health(True)
        self._tasks = [
            asyncio.create_task(self._every(_PATIENCE_S, self._memory.recorder.run)),
            asyncio.create_task(self._every(_EXPIRE_EVERY_S, self._expire)),
            asyncio.create_task(self._every(_SWEEP_EVERY_S, self._sweep)),
            asyncio.create_task(self._every(_LEASES_EVERY_S, self._tend_leases)),
            asyncio.create_task(self._every(_BUDGETS_EVERY_S, self._tell_budgets)),
        ]

    async def keep_catalog(self, version: str, archive: bytes) -> None:
        """Keeps a version that begins to serve, now or as soon as the store takes it."""
        self._kept[version] = archive
        self._serving = (version, archive)
        with contextlib.suppress(StoreLost):
            await self._keep_pending()

    async def close(self) -> None:
        """Writes what is pending, as often as it takes until it is cancelled, and lets go of the store."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        while not await self._written():  # noqa: ASYNC110 - it is a try, and nothing tells of its success before
            await asyncio.sleep(_PATIENCE_S)
        with contextlib.suppress(StoreLost):
            await self._store.close()

    def give_up(self) -> int:
        """Nothing more will be written: how many traces are lost by that, which are counted as dropped."""
        return self._memory.recorder.give_up()

    async def _written(self) -> bool:
        """Whether traces and leases are written; a version of the catalogue is not waited for by itself."""
        try:
            with contextlib.suppress(StoreLost):
                await self._keep_pending()
            if self._memory.recorder.pending:
                await self._memory.recorder.flush()
            await self._memory.budgets.leases.close()
        except StoreLost:
            return False  # the store itself told of it
        except Exception as fault:  # noqa: BLE001 - another try may have better luck, and what is lost is told
            self._log.error("fault in the upkeep of the store", exc_info=fault)
            return False
        return True

    async def _keep_pending(self) -> None:
        for version, archive in list(self._kept.items()):
            await self._memory.store.keep_catalog(version, archive)
            self._kept.pop(version, None)  # a round of the upkeep and a load may have kept it at once

    async def _expire(self) -> None:
        if self._store.is_lost and self._serving is not None:
            # It may come back without what it had; and only a write shows that it is back.
            version, archive = self._serving
            self._kept[version] = archive
        await self._keep_pending()
        await self._memory.budgets.give_back(self._clock())
        expired = _AT_ONCE
        while expired == _AT_ONCE:
            expired = await self._memory.store.expire(self._clock(), _AT_ONCE)
            await asyncio.sleep(_PAUSE_S)

    async def _tend_leases(self) -> None:
        await self._memory.budgets.leases.tend(self._clock())

    async def _tell_budgets(self) -> None:
        """What is spent of today's budgets, for the metrics alone."""
        snapshot = self._served.snapshot or await anext(self._served.versions(), None)
        if snapshot is None:
            return
        now = self._clock()
        capped = [policy for policy in snapshot.policies.values() if policy.daily_budget is not None][:BUDGETS_MAX]
        budgets = {}
        for policy in capped:
            spent = await self._memory.budgets.today(policy, now)
            limit = (policy.daily_budget or 0) * MILLION
            budgets[policy.policy_id] = Budget(limit, spent.settled, spent.reserved)
        self._metrics.budgets(budgets, snapshot.content.currency, now)

    async def _sweep(self) -> None:
        snapshot = self._served.snapshot
        if snapshot is None:
            return
        now = self._clock()
        if self._serving is not None and abs(now - self._swept_at) >= _LEAP_MS:
            # Other instances leap too, and may have swept what serves here alone and was spared for an hour.
            version, archive = self._serving
            self._kept[version] = archive
            await self._keep_pending()
        self._swept_at = now
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
            try:
                await work()
            except StoreLost:
                pass  # the store itself told of it
            except Exception as fault:  # noqa: BLE001 - a fault in one round must not end the upkeep
                self._log.error("fault in the upkeep of the store", exc_info=fault)
            await asyncio.sleep(seconds)

    def _told(self, lost: StoreLost | None) -> None:
        """Logs and shows that the store is lost, once, or back."""
        if lost is not None and self._logged:
            return
        self._logged = lost is not None
        if lost is not None:
            self._log.error("store lost, decisions go on without it", store=self._store.name, reason=str(lost))
        else:
            self._log.info("store is back", store=self._store.name)
        self._metrics.store_lost(lost=lost is not None)
        task = asyncio.ensure_future(self._on_health(lost is None))
        self._telling.add(task)  # a task that nobody holds may vanish
        task.add_done_callback(self._telling.discard)
