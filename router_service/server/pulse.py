"""What instances learn reaches decisions: figures and circuits become the next snapshot, twice a second.

Circuits need not wait for it, since each decision asks the board; figures and statuses reach the engine here, at the
latest a second after their report (docs/reliability.md, Observed figures). A store that instances share is read and
written at the same beat.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from router_service.catalog.served import Served
from router_service.catalog.slices import unhurried
from router_service.catalog.snapshot import Snapshot
from router_service.domain.overlay import Overlay
from router_service.health.shared import SharedHealth
from router_service.store.interface import StoreLost

_SHARE_EVERY_S = 0.2
_FIGURES_EVERY = 4  # beats until a changed figure is served, less than a second
_LOOK_EVERY = 25  # beats: figures are forgotten and pauses end though nothing comes


class Pulse:
    """Serves snapshots with the health of their endpoints over them."""

    def __init__(self, health: SharedHealth, served: Served, clock: Callable[[], int], log: Any) -> None:
        self._health, self._served, self._clock, self._log = health, served, clock, log
        self._serving = asyncio.Lock()
        self._seen = -1

    async def install(self, snapshot: Snapshot) -> None:
        """Serves a version of the catalogue from now on, with what is known of its endpoints."""
        async with self._serving:
            self._health.board.thresholds = snapshot.content.thresholds
            overlay = await unhurried(self._health.board.overlay(self._clock()), pause_s=0)
            self._served.install(await unhurried(snapshot.overlaid(overlay), pause_s=0))

    async def refresh(self) -> None:
        """Serves what is known now of the endpoints of the version that serves."""
        async with self._serving:
            snapshot, self._seen = self._served.snapshot, self._health.board.changes
            if snapshot is None:
                return
            overlay: Overlay = await unhurried(self._health.board.overlay(self._clock()))
            if overlay != snapshot.overlay:
                self._served.install(await unhurried(snapshot.overlaid(overlay)))

    async def run(self) -> None:
        """Goes on until it is cancelled."""
        beats = 0
        while True:
            await asyncio.sleep(_SHARE_EVERY_S)
            beats += 1
            try:
                await self._beat(beats)
            except Exception as fault:  # noqa: BLE001 - a fault in one beat must not end the pulse
                self._log.error("fault while sharing health", exc_info=fault)

    async def _beat(self, beats: int) -> None:
        with contextlib.suppress(StoreLost):  # the store itself told of it
            await self._health.pull()
            await self._health.push()
        changed = self._health.board.changes != self._seen
        if (changed and beats % _FIGURES_EVERY == 0) or beats % _LOOK_EVERY == 0 or self._health.is_urgent:
            await self.refresh()
