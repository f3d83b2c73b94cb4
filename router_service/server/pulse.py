"""What instances learn reaches decisions: figures and statuses become the next snapshot, less than a second later.

Circuits need not wait for it, since each decision asks the board (docs/reliability.md, Observed figures). A store that
instances share is read and written apart from that, so that a slow one holds nothing up.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

from router_service.catalog.served import Served
from router_service.catalog.slices import let_go, unhurried
from router_service.catalog.snapshot import Snapshot
from router_service.domain.overlay import Overlay
from router_service.health.shared import SharedHealth
from router_service.store.interface import StoreLost

BEAT_S = 0.2
_AGAIN_EVERY_S = 5.0  # what keeps endpoints out is written again: a store may come back empty and no call have failed
FIGURES_EVERY_S = 0.6  # at most so often; with a beat and the work itself, less than a second
LOOK_EVERY_S = 5.0  # figures are forgotten and pauses end though nothing comes


class Pulse:
    """Serves snapshots with the health of their endpoints over them."""

    def __init__(self, health: SharedHealth, served: Served, clock: Callable[[], int], log: Any) -> None:
        self._health, self._served, self._clock, self._log = health, served, clock, log
        self._serving = asyncio.Lock()
        self._seen, self._shown_at = -1, 0.0
        self._written_at = time.monotonic()

    async def begin(self) -> None:
        """Learns what the store knows, before anything is decided."""
        with contextlib.suppress(StoreLost):  # the store itself told of it
            await self._health.pull()

    async def end(self) -> None:
        """Writes what was learned last."""
        with contextlib.suppress(StoreLost):
            await self._health.push()

    async def install(self, snapshot: Snapshot) -> None:
        """Serves a version of the catalogue from now on, with what is known of its endpoints."""
        async with self._serving:
            before = self._served.snapshot
            self._health.board.thresholds = snapshot.content.thresholds
            overlay = await unhurried(self._health.board.overlay(self._clock()), pause_s=0)
            self._served.install(await unhurried(snapshot.overlaid(overlay), pause_s=0))
            pieces = [] if before is None else before.pieces()
            del before
            await unhurried(let_go(pieces))

    async def refresh(self) -> None:
        """Serves what is known now of the endpoints of the version that serves."""
        async with self._serving:
            snapshot, self._seen = self._served.snapshot, self._health.board.changes
            self._shown_at = time.monotonic()
            if snapshot is None:
                return
            overlay: Overlay = await unhurried(self._health.board.overlay(self._clock()))
            if overlay != snapshot.overlay:
                self._served.install(await unhurried(snapshot.overlaid(overlay)))

    async def run(self) -> None:
        """Goes on until it is cancelled."""
        await asyncio.gather(self._every_beat(self._share), self._every_beat(self._show))

    async def _every_beat(self, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                await work()
            except StoreLost:
                pass  # the store itself told of it
            except Exception as fault:  # noqa: BLE001 - a fault in one beat must not end the pulse
                self._log.error("fault while sharing health", exc_info=fault)

    async def _share(self) -> None:
        await self._health.pull()
        if time.monotonic() - self._written_at >= _AGAIN_EVERY_S:
            self._written_at = time.monotonic()
            self._health.again(self._clock())
        await self._health.push()

    async def _show(self) -> None:
        since, urgent = time.monotonic() - self._shown_at, self._health.is_urgent
        changed = self._health.board.changes != self._seen
        if urgent or since >= (FIGURES_EVERY_S if changed else LOOK_EVERY_S):
            await self.refresh()
