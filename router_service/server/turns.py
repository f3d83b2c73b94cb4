"""Turns: where one caller's calls fill the event loop, they wait, and those of others go before them.

gRPC hands calls over in the order of their coming, so a hundred calls that one caller keeps under way stand before
each call of another. While the loop has no time to spare, a caller that makes more than its share of the calls gets
only as many turns as leave some; what waits is taken in turn, one of each caller. Who makes few calls never waits, and
where there is one caller alone, or time to spare, nobody does.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import cache

TICK_S = 0.02
"""How often the loop's time is looked at."""
FREE = 20
"""So many calls of a caller in a tick never wait: a thousand a second."""
SHARE = 1.25
"""A caller's share is so many times the mean of the callers of the last seconds."""
BUSY = 0.85
"""The part of its time above which the loop has none to spare."""
_REMEMBERED_TICKS = 100
_PUMP_S = 0.001
_LEAST_RATE = 50.0  # calls a second of those that wait, however busy the loop is with others
_SLOWER, _FASTER = 0.8, 1.1
_UNBOUNDED = 1 << 60


class Turns:
    """The calls of one event loop. `clock` is time.perf_counter; `busy_s` what the loop's thread has been busy for."""

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, busy_s: Callable[[], float] | None = None
    ) -> None:
        self._clock, self._busy_s = clock, busy_s or thread_busy_s()
        self._began = self._ends = 0.0
        self._busy_before = 0.0
        self._tick = 0
        self._free = float(_UNBOUNDED)
        self._counts: dict[str, int] = {}
        self._last_tick: dict[str, int] = {}
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}
        self._rate = 0.0
        self._pumped_at = 0.0
        self.waited = 0
        """How many calls have waited for their turn."""

    def wanted(self, caller: str, now: float) -> asyncio.Future[None] | None:
        """None where a call may go on at once, else what to await; `now` is the clock's."""
        if now >= self._ends:
            self._next_tick(now)
        count = self._counts[caller] = self._counts.get(caller, 0) + 1
        if count <= self._free and (not self._queues or caller not in self._queues):
            return None
        return self._wait(caller, now)

    def _wait(self, caller: str, now: float) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        if not self._queues:
            self._pumped_at = now
            loop.call_later(_PUMP_S, self._pump)
        turn = loop.create_future()
        self._queues.setdefault(caller, deque()).append(turn)
        self.waited += 1
        return turn

    def _next_tick(self, now: float) -> None:
        busy_s, took = self._busy_s(), now - self._began
        busy = (busy_s - self._busy_before) / took if 0 < took < 10 * TICK_S else 0.0
        self._began, self._ends, self._busy_before = now, now + TICK_S, busy_s
        self._tick += 1
        for caller in self._counts:
            self._last_tick[caller] = self._tick
        if self._tick % _REMEMBERED_TICKS == 0:
            since = self._tick - _REMEMBERED_TICKS
            self._last_tick = {caller: tick for caller, tick in self._last_tick.items() if tick > since}
        calls, callers = sum(self._counts.values()), len(self._last_tick)
        self._counts.clear()
        if busy > BUSY and callers > 1:
            self._free = max(FREE, SHARE * calls / callers)
            self._rate = max(_LEAST_RATE, self._rate * _SLOWER if self._rate else calls / took / 2)
        elif self._queues:
            self._rate = max(_LEAST_RATE, self._rate * _FASTER)
        else:
            self._free, self._rate = float(_UNBOUNDED), 0.0

    def _pump(self) -> None:
        """Gives as many turns as have come due."""
        now = self._clock()
        if now >= self._ends:
            self._next_tick(now)
        due = int((now - self._pumped_at) * self._rate)
        if due:
            self._pumped_at = now
        while due and self._queues:
            caller, queue = next(iter(self._queues.items()))
            del self._queues[caller]
            turn = queue.popleft()
            if queue:
                self._queues[caller] = queue  # behind the others
            if not turn.done():  # its call was cancelled
                turn.set_result(None)
                due -= 1
        if self._queues:
            asyncio.get_running_loop().call_later(_PUMP_S, self._pump)


def thread_busy_s() -> Callable[[], float]:
    """Tells for how long this thread has run, or waited for a processor, in seconds."""
    try:
        file = _schedstat(threading.get_ident())
        os.pread(file, 1, 0)
    except OSError:
        return time.thread_time  # in which other programs on the machine do not show

    def told() -> float:
        ran, waited, _ = os.pread(file, 100, 0).split()
        return (int(ran) + int(waited)) / 1e9

    return told


@cache
def _schedstat(_thread: int) -> int:
    """The kernel's file of the thread that asks, open for good."""
    return os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
