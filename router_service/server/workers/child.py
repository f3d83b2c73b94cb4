"""A worker as its supervisor sees it: started, spoken to, and started again when it has ended."""

from __future__ import annotations

import asyncio
import os
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Awaitable, Callable
from contextlib import suppress

from router_service.server.again import growing_s
from router_service.server.workers import merge
from router_service.server.workers.journal import Journal
from router_service.server.workers.link import (
    Link,
    LinkFull,
    Load,
    Message,
    Page,
    Ready,
    Taken,
    content_of,
    pair,
)
from router_service.server.workers.seat import Seat

STEADY_S = 10.0
"""A worker that lived so long is replaced at once; one that ends sooner the later, the more often it did."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 30.0
HUNG_S = 30.0
"""A worker that has not told its metrics for so long, though it was asked, is ended and replaced."""

Heard = Load | Taken


def pause_s(quick_ends: int) -> float:
    """How long to wait after so many ends in a row that came soon after the start."""
    return growing_s(quick_ends, _FIRST_PAUSE_S, _LONGEST_PAUSE_S)


class Child:
    """The place of one worker, in which one process follows another.

    `changed` is told when it begins or ceases to serve, `greets` of each process that has begun, to send it what it
    needs, `hears` of each message that is none of its own business.
    """

    def __init__(
        self,
        seat: Callable[[int], Seat],
        command: tuple[str, ...],
        journal: Journal,
        changed: Callable[[], None],
        greets: Callable[[Child], None],
        hears: Callable[[Child, Heard], None],
    ) -> None:
        """`seat` makes one around the descriptor of a link."""
        self._seat, self._command, self._journal = seat, command, journal
        self._changed, self._greets, self._hears = changed, greets, hears
        self._process: Process | None = None
        self._link: Link | None = None
        self._paged = asyncio.Event()
        self._asked_at: float | None = None
        self.number = 0
        self.addresses: list[str] | None = None
        """Where clients reach it, once it serves."""
        self.page: merge.Pages = {}
        """What it counted, as it told last."""
        self.begun = asyncio.Event()
        """Set once it served for the first time."""

    @property
    def serves(self) -> bool:
        """Whether it answers calls."""
        return self.addresses is not None

    async def live(self) -> int:
        """Runs one process to its end; its exit code, or minus the number of the signal that ended it."""
        ours, theirs = pair()
        with theirs:
            seat = self._seat(theirs.fileno())
            self.number = seat.number
            # A group of its own: Ctrl-C in a terminal is for the supervisor alone, which then ends it gently.
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=DEVNULL,
                env=seat.environment(),
                pass_fds=(theirs.fileno(),),
                process_group=0,
            )
        link = self._link = Link(ours)
        hearing = asyncio.create_task(self._hear(link))
        self._greets(self)
        try:
            code = await self._process.wait()
            await hearing  # what it said last is still to be read
            return code
        finally:
            hearing.cancel()
            link.close()
            self._link, self._process, self._asked_at = None, None, None
            self._paged.set()  # nobody need wait for that any more
            if self.addresses is not None:
                self.addresses = None
                self._changed()

    async def keep(self, retire: Callable[[merge.Pages], None], stopped: asyncio.Event, life: Awaitable[int]) -> int:
        """Has one process follow the other until all must end; the last exit code. `life` is that of the first.

        `retire` is given what each counted.
        """
        quick = 0
        while True:
            begun = time.monotonic()
            code = await life
            retire(self.page)
            self.page = {}
            if stopped.is_set():
                return code
            quick = 0 if time.monotonic() - begun >= STEADY_S else quick + 1
            wait_s = pause_s(quick)
            self._journal.error(
                "a worker has ended and is replaced", worker=self.number, **how_ended(code), pause_s=round(wait_s, 1)
            )
            with suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), wait_s)
                return 0
            life = self.live()

    def tell(self, message: Message, file: int | None = None) -> None:
        """Sends a message, if there is a process that can have it."""
        if self._link is None:
            return
        try:
            self._link.send(message, file)
        except LinkFull:
            self._journal.error("a worker does not listen and is ended", worker=self.number)
            self.kill()

    async def ask_page(self, patience_s: float) -> None:
        """Has it tell its metrics, and waits for that as long as there is patience."""
        if not self.serves:
            return
        if self._asked_at is None:
            self._asked_at = time.monotonic()
            self._paged.clear()
            self.tell(Page())
        elif time.monotonic() - self._asked_at > HUNG_S:
            self._journal.error("a worker hangs and is ended", worker=self.number)
            self.kill()
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._paged.wait(), patience_s)

    def kill(self) -> None:
        """Ends its process at once."""
        if self._process is not None:
            self._process.kill()

    async def _hear(self, link: Link) -> None:
        async for message, file in link.received():
            if isinstance(message, Page):
                self.page = merge.read(content_of(file).decode())
                os.close(file)
                self._asked_at = None
                self._paged.set()
            elif isinstance(message, Ready):
                self.addresses = message.addresses
                self.begun.set()
                self._changed()
            elif isinstance(message, Load | Taken):
                self._hears(self, message)


def how_ended(code: int) -> dict[str, object]:
    """An exit code as a log tells it."""
    return {"signal": -code} if code < 0 else {"exit_code": code}
