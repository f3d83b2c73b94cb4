"""Keeping: who may call and the server's certificate, read at the start and whenever their files change.

Each is swapped in one step; files that are not valid leave what was read before in force.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from router_service.callers.book import NOBODY
from router_service.callers.load import CallersInvalid, Loaded, dangling, load
from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.catalog.watch import Watch
from router_service.domain.caller import Caller
from router_service.server.again import Again
from router_service.server.identity.access import Access, Known, Open
from router_service.server.identity.counted import CALLERS, TLS, IdentityCounts
from router_service.server.identity.tls import Certificates, Tls, TlsInvalid, TlsPaths, read_tls


class Identity:
    """`access` finds callers; `certificates` are for new connections, None without TLS."""

    def __init__(
        self,
        callers: Path | None,
        tls: TlsPaths | None,
        local: Caller,
        served: Served,
        clock: Callable[[], int],
        counts: IdentityCounts,
        log: Any,
    ) -> None:
        """`local` is the caller of all calls where there is no callers file."""
        self._callers, self._tls, self._served, self._counts, self._log = callers, tls, served, counts, log
        self._known = Known(NOBODY, clock, counts.refused)
        self.access: Access = Open(local) if callers is None else self._known
        self.certificates: Certificates | None = None
        self._loaded: Loaded | None = None
        self._watch = Watch(*(tls.all if tls else ()), *((callers,) if callers else ()))
        self._again = Again(self._watch.wake)

    async def first(self) -> None:
        """Reads all files. Raises CallersInvalid or TlsInvalid."""
        if self._tls is not None:
            self._install_tls(await asyncio.to_thread(read_tls, self._tls))
        if self._callers is not None:
            self._install_callers(await asyncio.to_thread(load, self._callers))

    def wake(self) -> None:
        """Reads the files now, changed or not."""
        self._watch.wake()

    async def run(self) -> None:
        """Reads the files whenever they change, and again after a fault, until it is cancelled."""
        if self._tls is None and self._callers is None:
            return
        comparing = asyncio.create_task(self._compare())
        try:
            async for _ in self._watch.changes():
                await self._read()
        finally:
            self._again.over()
            comparing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await comparing

    async def _read(self) -> None:
        faults = {}
        # Each by itself: a fault of the one must not keep what changed of the other from being read.
        for files, read in ((TLS, self._read_tls), (CALLERS, self._read_callers)):
            try:
                await read()
            except Exception as fault:  # noqa: BLE001 - a fault in reading must not end the service
                self._counts.rejected(files)
                faults[files] = fault
        if not faults:
            self._again.over()
            return
        again_s = self._again.failed()
        for files, found in faults.items():
            self._log.error("fault while reading who may call", files=files, exc_info=found, again_s=again_s)

    async def _read_tls(self) -> None:
        if self._tls is not None:
            try:
                self._install_tls(await asyncio.to_thread(read_tls, self._tls))
            except TlsInvalid as invalid:
                self._counts.rejected(TLS)
                self._log.error("certificate rejected, the last good one goes on", problems=str(invalid).splitlines())

    async def _read_callers(self) -> None:
        if self._callers is not None:
            try:
                self._install_callers(await asyncio.to_thread(load, self._callers))
            except CallersInvalid as invalid:
                self._counts.rejected(CALLERS)
                self._log.error(
                    "callers rejected, the last good ones go on", problems=[str(one) for one in invalid.problems]
                )

    def _install_tls(self, tls: Tls) -> None:
        changed = True
        if self.certificates is None:
            self.certificates = Certificates(tls)
        else:
            changed = self.certificates.install(tls)
        self._counts.loaded(TLS, changed=changed)
        self._counts.expires(tls.expires_at_s)
        if changed:
            self._log.info("certificate loaded", expires_at_s=int(tls.expires_at_s))

    def _install_callers(self, loaded: Loaded) -> None:
        changed = loaded.callers != self._known.callers
        self._known.callers, self._loaded = loaded.callers, loaded
        self._counts.loaded(CALLERS, changed=changed)
        self._counts.callers(len(loaded.callers.by_id))
        if changed:
            self._log.info("callers loaded", callers=len(loaded.callers.by_id), tokens=len(loaded.callers.by_token))
            self._tell_dangling(self._served.snapshot)

    async def _compare(self) -> None:
        """Says what callers name in vain, of each version of the catalogue; it may come with the next one."""
        async for snapshot in self._served.versions():
            self._tell_dangling(snapshot)

    def _tell_dangling(self, snapshot: Snapshot | None) -> None:
        if snapshot is None or self._loaded is None:
            return
        workloads = {one.name: None for one in snapshot.workloads.by_place.values()}
        found = [str(one) for one in dangling(self._loaded, snapshot.policies, workloads)]
        if found:
            self._log.warning("callers name what the catalogue does not have", problems=found)
