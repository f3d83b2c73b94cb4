"""The snapshot that is served now, and those who wait for the next one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from router_service.catalog.snapshot import Snapshot


class Served:
    """Holds one snapshot at a time and swaps it in one step. For one event loop."""

    def __init__(self, snapshot: Snapshot | None = None) -> None:
        self._snapshot = snapshot
        self._next = asyncio.Event()
        self._closed = False

    @property
    def snapshot(self) -> Snapshot | None:
        """What serves now; None before the first catalogue is loaded."""
        return self._snapshot

    def install(self, snapshot: Snapshot) -> None:
        """Serves this snapshot from now on. Decisions under way keep the one that they began with."""
        self._snapshot = snapshot
        self._next.set()
        self._next = asyncio.Event()

    def close(self) -> None:
        """Ends every wait for a next version; the snapshot goes on serving those who are under way."""
        self._closed = True
        self._next.set()

    async def versions(self) -> AsyncIterator[Snapshot]:
        """The snapshot served now and each later one, until `close`.

        Who is slow gets the newest and misses those between.
        """
        seen = ""
        while not self._closed:
            following = self._next
            snapshot = self._snapshot
            if snapshot is not None and snapshot.version != seen:
                seen = snapshot.version
                yield snapshot
            else:
                await following.wait()
