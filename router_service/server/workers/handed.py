"""What a worker loads: catalogues that its supervisor had loaded once, for all workers."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from router_service.catalog.aside import Loaded, LoadFailed, frames_of, take_in
from router_service.catalog.load import CatalogInvalid
from router_service.server.workers.link import Catalog, Load, Taken


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A load of the supervisor's: its number, the file that it made, or why it made none."""

    number: int
    file: int
    failed: str
    again_s: float


class Handed:
    """A source of catalogues, see Source. `ask` sends the supervisor a message."""

    def __init__(self, ask: Callable[[Load | Taken], None]) -> None:
        self._ask = ask
        self._arrived: deque[_Arrival] = deque()
        self._news = asyncio.Event()
        self._last: _Arrival | None = None
        self._asked = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[None]] = {}

    def arrive(self, message: Catalog, file: int) -> None:
        """The supervisor has loaded."""
        self._arrived.append(_Arrival(message.number, file, message.failed, message.again_s))
        self._news.set()
        for asked in message.asked:
            if (waiting := self._waiting.pop(asked, None)) is not None and not waiting.done():
                waiting.set_result(None)

    def wake(self) -> None:
        self._ask(Load())

    async def changes(self) -> AsyncIterator[None]:
        while True:
            await self._news.wait()
            yield

    async def refreshed(self) -> None:
        number = next(self._asked)
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._ask(Load(number))
        try:
            await waiting
        finally:
            self._waiting.pop(number, None)

    async def load(self, now: int, *, serving: str = "", hurried: bool = False) -> Loaded | None:
        """The latest; at first the first, since what other workers serve comes ahead of what is not valid."""
        while not self._arrived and self._last is None:
            await self._news.wait()
        self._news.clear()
        while self._arrived:
            self._take()
            if not serving:
                break
        arrival = self._last
        assert arrival is not None, "one has arrived"  # noqa: S101 - it was waited for
        if arrival.failed:
            raise LoadFailed(arrival.failed, arrival.again_s)
        try:
            loaded = await take_in(frames_of(arrival.file), now, serving=serving, hurried=hurried)
        except CatalogInvalid:
            self._ask(Taken(arrival.number, good=False))
            raise
        self._ask(Taken(arrival.number, good=True))
        return loaded

    def _take(self) -> None:
        if self._last is not None and self._last.file >= 0:
            os.close(self._last.file)
        self._last = self._arrived.popleft()
        if self._arrived:
            self._news.set()
