"""Calls whose message is still to come: so many are read at a time, and whoever is slow gives way to others.

A message that is on its way takes memory before anything is known of it, up to the largest that any method takes. So
calls that are read at a time have places; further ones wait for one, in turn, one of each caller.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

import grpc

from router_service.asks import InvalidRequest, LimitReached
from router_service.domain.problems import Problem
from router_service.server.limits import ARRIVING, STALLED

Context = grpc.aio.ServicerContext[Any, Any]
LOOK_EVERY_S = 5.0
TICK_S, SLOW_TICKS = 0.1, 3
"""Who has a place that others wait for keeps it for so many ticks: a message that is there is read in less.

Ticks, since they come no faster than a busy event loop reads what is there.
"""
_END: Any = grpc.aio.EOF
_NO_MESSAGE = Problem("", "the call brought no message", "send the one that the method takes, then end your side")


@dataclass(slots=True, eq=False)
class Held:
    """A call that stands still, which may be ended from beside."""

    key: str
    since: float
    tick: int
    task: asyncio.Task[Any] | None
    error: LimitReached | None = None

    def end(self, error: LimitReached) -> None:
        """Has it ended with this error, which its own task tells its caller."""
        if self.error is None and self.task is not None:
            self.error = error
            self.task.cancel()

    def ended(self, cancelled: asyncio.CancelledError) -> BaseException:
        """What is to be raised where it was cancelled: the error, or that its caller is gone."""
        if self.error is None or self.task is None:
            return cancelled
        self.task.uncancel()
        return self.error


class Waiting:
    """The messages that are to come to one server. One caller has half of the places at the most."""

    def __init__(self, places: int, queue: int, stalled_s: float) -> None:
        """So many messages come at a time, so many calls wait for a place, and a message takes so long at the most."""
        self._places, self._half, self._queue_most = places, max(1, places // 2), queue
        self._stalled_s = stalled_s
        self._held: dict[Held, None] = {}
        self._taken = self._queued = self._ticks = 0
        self._own: dict[str, int] = {}
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}
        self._slow: set[str] = set()
        self._pressed = asyncio.Event()

    @property
    def count(self) -> int:
        """How many calls wait for their message, or for a place to read it."""
        return self._taken + self._queued

    async def message(self, key: str, context: Context, now: float) -> bytes:
        """The one message of a call whose caller is `key`. Raises LimitReached, or InvalidRequest where none comes."""
        message = await self.next(key, context, now)
        if message is None:
            raise InvalidRequest([_NO_MESSAGE])
        return message

    async def next(self, key: str, context: Context, now: float) -> bytes | None:
        """The next message of a call, or None where its caller has closed its side. Raises LimitReached.

        `now` is that of time.perf_counter.
        """
        if self._taken >= self._places or self._own.get(key, 0) >= self._half:
            await self._place(key)
            now = time.perf_counter()
        else:
            self._take(key)
        held = Held(key, now, self._ticks, asyncio.current_task())
        self._held[held] = None
        try:
            message: Any = await context.read()
        except asyncio.CancelledError as cancelled:
            raise held.ended(cancelled) from None
        finally:
            del self._held[held]
            self._give_back(key)
        return None if message is _END else message

    async def run(self) -> None:
        """Goes on until it is cancelled."""
        while True:
            if not self._queued:
                self._pressed.clear()
                self._slow.clear()
                try:
                    async with asyncio.timeout(min(LOOK_EVERY_S, self._stalled_s / 4)):
                        await self._pressed.wait()
                except TimeoutError:
                    pass
            else:
                await asyncio.sleep(TICK_S)
            self.look(time.perf_counter())

    def look(self, now: float) -> None:
        """Ends what has waited too long; `now` is that of time.perf_counter."""
        for held in self._held:
            if now - held.since > self._stalled_s:
                held.end(LimitReached(STALLED, f"the message did not come within {self._stalled_s:g} s: send it again"))
        if self._queued:
            self._ticks += 1
            for held in self._in_the_way():
                self._slow.add(held.key)
                held.end(
                    LimitReached(
                        ARRIVING, "the message came slowly while other calls waited for its place: send it again"
                    )
                )

    def _in_the_way(self) -> list[Held]:
        """The calls that must give way to those that wait: of each caller its own, and of those that have most."""
        slow: dict[str, list[Held]] = {}
        for held in self._held:  # in the order of their coming
            if self._ticks - held.tick >= SLOW_TICKS and held.error is None:
                slow.setdefault(held.key, []).append(held)
        found, others = [], 0
        for key, queue in self._queues.items():
            if self._own.get(key, 0) >= self._half:
                found += slow.pop(key, [])[: len(queue)]
            else:
                others += 1
        rest = [held for of_one in slow.values() for held in of_one]
        rest.sort(key=lambda held: -self._own[held.key])
        return found + rest[:others]

    async def _place(self, key: str) -> None:
        if self._queued >= self._queue_most:
            self._make_way(key)
        self._pressed.set()
        future = asyncio.get_running_loop().create_future()
        self._queues.setdefault(key, deque()).append(future)
        self._queued += 1
        try:
            await future
        except asyncio.CancelledError:
            if future.cancelled():
                self._leave(key, future)
            elif future.exception() is None:  # it has got its place meanwhile
                self._give_back(key)
            raise

    def _make_way(self, key: str) -> None:
        """The queue is full: of who has most in it the last that came is refused, which may be this one."""
        most = max(self._queues, key=lambda one: len(self._queues[one]))
        what = f"{self._queued} calls wait for their message, which is all that may be: ask again later"
        error = LimitReached(ARRIVING, what)
        if len(self._queues[most]) <= len(self._queues.get(key, ())) + 1:
            raise error
        last = self._queues[most][-1]
        self._leave(most, last)
        if not last.done():
            last.set_exception(error)

    def _leave(self, key: str, future: asyncio.Future[None]) -> None:
        queue = self._queues.get(key)
        if queue is not None and future in queue:
            queue.remove(future)
            self._queued -= 1
            if not queue:
                del self._queues[key]

    def _take(self, key: str) -> None:
        self._taken += 1
        self._own[key] = self._own.get(key, 0) + 1

    def _give_back(self, key: str) -> None:
        self._taken -= 1
        left = self._own[key] - 1
        if left:
            self._own[key] = left
        else:
            del self._own[key]
        while self._queues and self._taken < self._places and self._hand_on():
            pass

    def _hand_on(self) -> bool:
        """Gives a place to the next in turn; who has kept others waiting comes after those who have not."""
        ready = [key for key in self._queues if self._own.get(key, 0) < self._half]
        if not ready:
            return False
        key = next((one for one in ready if one not in self._slow), ready[0])
        queue = self._queues.pop(key)
        future = queue.popleft()
        self._queued -= 1
        if queue:
            self._queues[key] = queue  # behind all others
        if not future.done():
            self._take(key)
            future.set_result(None)
        return True
