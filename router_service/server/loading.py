"""Loading: the first catalogue, and each one that its files become; a bad one never replaces a good one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from router_service.catalog.aside import Loaded, LoadFailed
from router_service.catalog.load import CatalogInvalid
from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.server.again import Again
from router_service.server.metrics import Metrics
from router_service.server.pulse import Pulse
from router_service.server.rubbish import unswept
from router_service.server.sources import Source


class Loading:
    """Loads a catalogue aside and has it served.

    `keep` is given each new version before it serves, since a trace must find the catalogue that it was made on;
    `tell` whether the files hold a good one.
    """

    def __init__(
        self,
        source: Source,
        served: Served,
        pulse: Pulse,
        clock: Callable[[], int],
        metrics: Metrics,
        log: Any,
        *,
        keep: Callable[[str, bytes], Awaitable[None]],
        tell: Callable[[bool], Awaitable[None]],
    ) -> None:
        self._source, self._served, self._pulse, self._clock = source, served, pulse, clock
        self._metrics, self._log, self._keep, self._tell = metrics, log, keep, tell
        self._loading = asyncio.Lock()
        self._next: asyncio.Task[tuple[Snapshot, bool]] | None = None
        self._again = Again(source.wake)

    def wake(self) -> None:
        """Loads now, changed or not."""
        self._source.wake()

    async def first(self, stop: asyncio.Event) -> bool:
        """Loads what is served first; False where it is told to stop before that is done."""
        loading = asyncio.create_task(self._source.load(self._clock(), hurried=True))
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait((loading, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not loading.done():
            loading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await loading
            return False
        with unswept():
            loaded = loading.result()
            assert loaded is not None, "nothing serves yet"  # noqa: S101 - what load_aside says
            await self._install(loaded)
        return True

    async def run(self) -> None:
        """Loads whenever the files change, and again where that failed, until it is cancelled."""
        try:
            async for _ in self._source.changes():
                with contextlib.suppress(Exception):  # it has been told, and the last good version goes on serving
                    await self.now()
        finally:
            self._again.over()

    async def now(self) -> tuple[Snapshot, bool]:
        """Loads; what serves then, and whether it is another version than before.

        Who asks while one is under way waits for the next, which all who ask meanwhile share. Raises CatalogInvalid or
        LoadFailed; the last good version goes on serving. What the files are not to blame for is tried again by itself.
        """
        if self._next is None:
            self._next = asyncio.create_task(self._begin())
        return await asyncio.shield(self._next)

    async def anew(self) -> tuple[Snapshot, bool]:
        """The same of what the files hold at this moment, whoever reads them."""
        before = self._served.snapshot
        version = "" if before is None else before.version
        del before
        await self._source.refreshed()
        snapshot, _ = await self.now()
        return snapshot, snapshot.version != version

    async def _begin(self) -> tuple[Snapshot, bool]:
        async with self._loading:
            # What changes from here on may come too late for this one.
            self._next = None
            try:
                with unswept():
                    loaded = await self._load()
            except CatalogInvalid as invalid:
                self._again.over()  # it is as bad the next time, until its files change
                await self._reject()
                self._log.error(
                    "catalogue rejected, the last good version goes on serving",
                    problems=[str(problem) for problem in invalid.problems],
                )
                raise
            except LoadFailed as failed:
                await self._reject()
                self._log.error(
                    "loading failed, the last good version goes on serving",
                    reason=str(failed),
                    again_s=failed.again_s or self._again.failed(),
                )
                raise
            except Exception as fault:
                await self._reject()
                self._log.error("fault while loading the catalogue", exc_info=fault, again_s=self._again.failed())
                raise
            self._again.over()
            return loaded

    async def _reject(self) -> None:
        """What the files hold does not serve, whoever is to blame."""
        self._metrics.rejected()
        await self._tell(False)

    async def _load(self) -> tuple[Snapshot, bool]:
        # No more than its version is held: what is let go of bit by bit must have no other holder.
        version = "" if self._served.snapshot is None else self._served.snapshot.version
        loaded = await self._source.load(self._clock(), serving=version)
        if loaded is not None:
            return await self._install(loaded)
        serving = self._served.snapshot
        assert serving is not None, "its version was asked for"  # noqa: S101 - nothing takes a snapshot away
        await self._told(serving, changed=False)
        return serving, False

    async def _install(self, loaded: Loaded) -> tuple[Snapshot, bool]:
        snapshot = loaded.snapshot
        await self._keep(snapshot.version, loaded.archive)
        await self._pulse.install(snapshot)
        await self._told(snapshot, changed=True)
        return snapshot, True

    async def _told(self, snapshot: Snapshot, *, changed: bool) -> None:
        self._metrics.installed(snapshot, changed=changed)
        await self._tell(True)
        self._log.info(
            "catalogue loaded" if changed else "catalogue unchanged",
            version=snapshot.version,
            endpoints=snapshot.index.size,
            policies=len(snapshot.policies),
        )
