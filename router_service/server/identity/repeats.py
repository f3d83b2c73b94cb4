"""What happens again and again is told once, and after a while how often it happened since: a flood makes few lines."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

PAUSE_S = 10.0
KINDS_MAX = 1024  # told apart; beyond them all are one kind


class Repeats:
    """Tells the first of each kind at once, then every `pause_s` seconds the last one with the number of all since."""

    def __init__(self, write: Callable[[dict[str, Any]], Awaitable[None]], pause_s: float = PAUSE_S) -> None:
        self._write, self._pause_s = write, pause_s
        self._held: dict[Hashable, tuple[int, dict[str, Any]]] = {}
        self._pauses: dict[Hashable, asyncio.Task[None]] = {}

    async def tell(self, kind: Hashable, entry: dict[str, Any]) -> None:
        """Writes an entry, or holds it back where one of its kind was written lately."""
        if kind not in self._pauses and len(self._pauses) >= KINDS_MAX:
            kind = None
        if kind in self._pauses:
            self._held[kind] = (self._held.get(kind, (0, entry))[0] + 1, entry)
            return
        self._pauses[kind] = asyncio.create_task(self._pause(kind))
        await self._write(entry)

    async def close(self) -> None:
        """Writes what is held back."""
        for task in self._pauses.values():
            task.cancel()
        self._pauses.clear()
        for kind in list(self._held):
            await self._release(kind)

    async def _pause(self, kind: Hashable) -> None:
        while True:
            await asyncio.sleep(self._pause_s)
            if kind not in self._held:
                del self._pauses[kind]
                return
            await self._release(kind)

    async def _release(self, kind: Hashable) -> None:
        times, entry = self._held.pop(kind)
        await self._write(entry | {"times": times})
