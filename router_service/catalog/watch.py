"""Watches files, of a catalogue or of callers, and tells when they change or when told to.

Changes are found by the system's notifications and, where those are lost (network mounts), by a look every few
seconds. What counts is what the files are behind their links, so that a ConfigMap's switch of links is one change.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from watchfiles import awatch

LOOK_AGAIN_MS = 5000
_SETTLE_MS = 100

Fingerprint = tuple[tuple[str, int, int, int], ...]


def fingerprint(*paths: Path) -> Fingerprint:
    """What tells one state of the files from another: names, inodes, sizes and times of change."""
    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            for file in sorted(path.iterdir()) if path.is_dir() else [path]:
                with contextlib.suppress(OSError):
                    state = file.stat()
                    found.append((file.name, state.st_ino, state.st_size, state.st_mtime_ns))
    return tuple(found)


class Watch:
    """Yields whenever the files differ from when they were last looked at, and at every `wake`."""

    def __init__(self, *paths: Path) -> None:
        """Each path is a file or a folder of files."""
        self._paths = paths
        self._folders = {path if path.is_dir() else path.parent for path in paths}
        self._woken = asyncio.Event()
        self._seen = fingerprint(*paths)

    def wake(self) -> None:
        """Asks for a load whether or not a file changed (SIGHUP)."""
        self._woken.set()

    async def changes(self) -> AsyncIterator[None]:
        """Runs until it is cancelled."""
        looking = asyncio.create_task(self._look())
        try:
            while True:
                await self._woken.wait()
                self._woken.clear()
                # Before the load: what changes during it is a change again.
                self._seen = fingerprint(*self._paths)
                yield
                if fingerprint(*self._paths) != self._seen:
                    self._woken.set()
        finally:
            looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await looking

    async def _look(self) -> None:
        while True:
            try:
                notices = awatch(
                    *self._folders,
                    recursive=False,
                    step=_SETTLE_MS,
                    rust_timeout=LOOK_AGAIN_MS,
                    yield_on_timeout=True,
                    watch_filter=None,
                )
                async for _ in notices:
                    if fingerprint(*self._paths) != self._seen:
                        self._woken.set()
            except (OSError, RuntimeError):
                # The folder itself went away; it may come back.
                await asyncio.sleep(LOOK_AGAIN_MS / 1000)
