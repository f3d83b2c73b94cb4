"""Admission: which calls are answered now, which wait for their turn, and which are refused (docs/limits.md)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import grpc

from router_service.asks import Draining, LimitReached, Unanswerable
from router_service.domain.caller import LOCAL_ID, Caller
from router_service.server import limits
from router_service.server.limits import Limits
from router_service.server.turns import Turns

# Servicer contexts differ in grpcio's stubs only by their messages.
Context = grpc.aio.ServicerContext[Any, Any]
_OWN_MACHINE = ("ipv4:127.", "ipv6:%5B::1%5D", "unix:")
LARGE = 16 * 1024
"""The size from which on an answer may have to wait until its caller takes it."""
_Answer = TypeVar("_Answer")


def key_of(caller: Caller, context: Context) -> str:
    """Whose calls are counted together: those of a caller that is known, else those of a host.

    On the server's own machine, where all come from one address, those of a connection.
    """
    return caller.caller if caller.caller != LOCAL_ID else stranger(context.peer())


def stranger(peer: str) -> str:
    """The same for a peer that nobody is known to be behind of."""
    return peer if peer.startswith(_OWN_MACHINE) else peer.rpartition(":")[0]


class Admission:
    """What is under way at one server."""

    def __init__(self, settings: Limits, *, stateless: bool) -> None:
        self._stateless = stateless
        self.turns = Turns()
        self.draining = False
        self.most = settings.calls
        """How many calls may be under way; none is below it once the server is on its way out."""
        self.at_work: dict[str, int] = {}
        """How many calls of each caller wait: for their turn, or for what their answer takes."""
        self.most_of_one = settings.calls_per_caller
        self._streams: dict[str, int] = {}
        self._streams_most, self._streams_of_one = limits.streams(settings, stateless=stateless)
        self._lanes: dict[str, asyncio.Semaphore] = {}
        self.working: set[asyncio.Task[Any]] = set()
        """The tasks of calls that wait for what their answer takes."""
        self._unsent: dict[str, int] = {}
        self._breaking = False

    def drain(self) -> None:
        """Refuses every call from now on."""
        self.draining, self.most = True, -1

    def break_off(self) -> None:
        """Ends the calls that wait for what their answer takes."""
        self._breaking = True
        for task in list(self.working):
            task.cancel()

    def message_bytes(self, method: str) -> int:
        """The greatest message of a method that is read."""
        return limits.message_bytes(method, stateless=self._stateless)

    def refusal(self, size: int, largest: int) -> Unanswerable:
        """Why a call with a message of `size` bytes is not taken at all."""
        if self.draining:
            return Draining()
        if size > largest:
            return too_large(size, largest)
        return LimitReached(limits.CALLS, f"{self.most} calls are under way, which is all that may be: ask again later")

    async def wait(self, key: str, turn: asyncio.Future[None] | None) -> None:
        """Waits for the turn of a call. Raises LimitReached, late, where its caller has too many under way.

        Late, because whoever asks again at once would otherwise fill the server with refusals.
        """
        if self.at_work.get(key, 0) >= self.most_of_one:
            if turn is not None:
                turn.cancel()
            await asyncio.sleep(limits.LATE_S)
            if self.draining:
                raise Draining
            what = f"{self.most_of_one} calls of this caller are under way, which is all that one may have"
            raise LimitReached(limits.CALLS_PER_CALLER, f"{what}: ask again later")
        if turn is not None:
            with self._working(key):
                await turn

    async def wait_if_wanted(self, key: str, now: float) -> None:
        """Waits for the turn of a call where it has to; `now` is the clock's of turns."""
        turn = self.turns.wanted(key, now)
        if turn is not None:
            await self.wait(key, turn)

    async def work(self, key: str, answer: Awaitable[_Answer]) -> _Answer:
        """An answer that takes its time."""
        with self._working(key):
            return await answer

    @contextmanager
    def _working(self, key: str) -> Iterator[None]:
        task = asyncio.current_task()
        assert task is not None, "called by a coroutine"  # noqa: S101 - which every call's task runs
        self.working.add(task)
        try:
            with _counted(self.at_work, key):
                yield
        except asyncio.CancelledError:
            if not self._breaking:
                raise
            task.uncancel()
            raise Draining from None
        finally:
            self.working.discard(task)

    def send(self, key: str, size: int) -> None:
        """A large answer is about to be sent. Raises LimitReached where too much waits to be taken already."""
        own = self._unsent.get(key, 0)
        if own and own + size > limits.UNSENT_PER_CALLER:
            what = f"{own} bytes of answers wait to be taken by this caller"
            raise LimitReached(limits.UNSENT, f"{what}: read them, or ask for less at a time")
        if self._unsent and self.unsent + size > limits.UNSENT_BYTES:
            raise LimitReached(limits.UNSENT, f"{self.unsent} bytes of answers wait to be taken: ask again later")
        task = asyncio.current_task()
        assert task is not None, "called by a coroutine"  # noqa: S101 - which every call's task runs
        self._unsent[key] = own + size

        def sent(_: object) -> None:
            left = self._unsent[key] - size
            if left:
                self._unsent[key] = left
            else:
                del self._unsent[key]

        task.add_done_callback(sent)

    @property
    def unsent(self) -> int:
        """How many bytes of large answers are on their way."""
        return sum(self._unsent.values())

    @asynccontextmanager
    async def lane(self, method: str, caller: Caller) -> AsyncIterator[float]:
        """For a method that does much work or makes large answers: so few calls of it at a time, and others between.

        Gives how long the work should pause (in seconds) after each of its slices.
        """
        async with self._lanes.setdefault(method, asyncio.Semaphore(limits.LANE)):
            begun = time.perf_counter()
            try:
                yield limits.BUSY_PAUSE_S if self.turns.is_busy else 0.0
            finally:
                self.turns.took(caller.caller, time.perf_counter() - begun)

    @contextmanager
    def open_stream(self, key: str) -> Iterator[None]:
        """Counts a stream for as long as it is open. Raises Draining or LimitReached."""
        if self.draining:
            raise Draining
        total, own = self.streams, self._streams.get(key, 0)
        if own >= self._streams_of_one:
            what = f"{own} streams of this caller are open, which is all that one may have"
            raise LimitReached(limits.STREAMS_PER_CALLER, f"{what}: close some, or use fewer")
        if total >= self._streams_most:
            raise LimitReached(limits.STREAMS, f"{total} streams are open, which is all that may be: ask again later")
        with _counted(self._streams, key):
            yield

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return sum(self._streams.values())


def too_large(size: int, most: int) -> LimitReached:
    """The refusal of a message."""
    return LimitReached(limits.MESSAGE, f"a message of {size} bytes is too large: send at most {most}")


@contextmanager
def _counted(counts: dict[str, int], key: str) -> Iterator[None]:
    counts[key] = counts.get(key, 0) + 1
    try:
        yield
    finally:
        left = counts[key] - 1
        if left:
            counts[key] = left
        else:
            del counts[key]
