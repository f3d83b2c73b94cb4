"""A worker's side of the link: what the supervisor asks of it, and what it tells."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

from prometheus_client import CollectorRegistry

from router_service.catalog.slices import unhurried
from router_service.server.drain import Ending
from router_service.server.exposition import written
from router_service.server.workers.handed import Handed
from router_service.server.workers.link import (
    Catalog,
    End,
    Link,
    LinkFull,
    Load,
    Message,
    Page,
    Ready,
    Taken,
    Wake,
    Workers,
    file_of,
)
from router_service.server.workers.seat import Seat


class Post:
    """`source` gives the catalogues that the supervisor hands on."""

    def __init__(self, seat: Seat, ending: Ending, log: Any) -> None:
        self._link, self._ending, self._log = Link(seat.take_link()), ending, log
        self.source = Handed(self._tell)

    def ready(self, addresses: list[str]) -> None:
        """Tells that this worker serves, and where."""
        self._tell(Ready(addresses))

    async def run(
        self,
        registry: CollectorRegistry,
        wake: Callable[[], None],
        complete: Callable[[bool], Awaitable[None]],
    ) -> None:
        """Does what is asked until the supervisor is gone, with which this worker ends too.

        `wake` reads again who may call; `complete` is told whether all workers serve.
        """
        async for message, file in self._link.received():
            if isinstance(message, Catalog):
                self.source.arrive(message, file)
            elif isinstance(message, Page):
                await self.tell_metrics(registry)
            elif isinstance(message, Workers):
                await complete(message.complete)
            elif isinstance(message, Wake):
                wake()
            elif isinstance(message, End):
                self._end(at_once=message.at_once)
        if not self._ending.begun.is_set():
            self._log.error("the supervisor is gone, so this worker ends")
        self._end(at_once=False)

    async def tell_metrics(self, registry: CollectorRegistry) -> None:
        """Tells what was counted up to now."""
        page = file_of(await unhurried(written(registry), pause_s=0))
        try:
            self._tell(Page(), page)
        finally:
            os.close(page)

    def close(self) -> None:
        """Tells no more."""
        self._link.close()

    def _end(self, *, at_once: bool) -> None:
        self._ending.begun.set()
        if at_once:
            self._ending.at_once.set()

    def _tell(self, message: Ready | Load | Taken | Page, file: int | None = None) -> None:
        told: Message = message
        try:
            self._link.send(told, file)
        except LinkFull:
            self._log.error("the supervisor does not listen", kind=type(message).__name__)
