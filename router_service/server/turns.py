"""Turns: where one caller's calls fill the event loop, they wait, and those of others go before them.

gRPC hands calls over in the order of their coming, so a hundred calls that one caller keeps under way stand before
each call of another. While the loop has no time to spare, a caller that takes more than its share of it gets only so
much as leaves some; what waits is taken in turn, one of each caller. Who takes little never waits, and where there is
one caller alone, or time to spare, nobody does.
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
FREE = 0.25
"""A caller that takes less than this part of the loop's time never waits."""
SHARE = 1.25
"""A caller's share is so many times the mean of the callers of the last seconds."""
BUSY = 0.7
"""The part of its time above which the loop has none to spare."""
OVERHEAD_S = 0.00015
"""What gRPC itself takes of the loop's time for a call, beside the time that its answer is worked on."""
_REMEMBERED_TICKS = 100
_PUMP_S = 0.001
_FIRST_PART, _LEAST_PART = 0.4, 0.1  # of the loop's time for those that wait, however busy it is with others
_SLOWER, _FASTER = 0.8, 1.1
_LEARNT = 0.2  # how much of what a call took counts for the next of its caller
_UNBOUNDED = float("inf")


class Turns:
    """The calls of one event loop. `clock` is time.perf_counter; `busy_s` what the loop's thread has been busy for."""

    def __init__(
        self, clock: Callable[[], float] = time.perf_counter, busy_s: Callable[[], float] | None = None
    ) -> None:
        self._clock, self._busy_s = clock, busy_s or thread_busy_s()
        self._began = self._ends = 0.0
        self._busy_before = 0.0
        self._tick = self._busy_until = 0
        self._free_s = _UNBOUNDED  # what a caller may take in this tick without waiting
        self._taken: dict[str, float] = {}
        self._last_tick: dict[str, int] = {}
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}
        # What a call of a caller takes that has waited since somebody last began to.
        self._slowed: dict[str, float] = {}
        self._part = self._left_s = self._pumped_at = 0.0
        self.is_busy = False
        """Whether the loop had no time to spare when that was looked at last."""
        self.counts = False
        """Whether it is to be told what calls take: while the loop is busy, and for some seconds after that."""
        self.waited = 0
        """How many calls have waited for their turn."""

    def wanted(self, caller: str, now: float) -> asyncio.Future[None] | None:
        """None where a call may go on at once, else what to await; `now` is the clock's."""
        if now >= self._ends:
            self._next_tick(now)
        if self._free_s == _UNBOUNDED or (self._taken.get(caller, 0.0) <= self._free_s and caller not in self._queues):
            return None
        loop = asyncio.get_running_loop()
        if not self._queues:
            self._pumped_at, self._left_s = now, 0.0
            self._slowed.clear()
            loop.call_later(_PUMP_S, self._pump)
        self._slowed.setdefault(caller, OVERHEAD_S)
        turn = loop.create_future()
        self._queues.setdefault(caller, deque()).append(turn)
        self.waited += 1
        return turn

    def took(self, caller: str, seconds: float) -> None:
        """A call of a caller was worked on for so long; to be told where it `counts`."""
        took = seconds + OVERHEAD_S
        self._taken[caller] = self._taken.get(caller, 0.0) + took
        if caller in self._slowed:
            usual = self._slowed[caller]
            self._slowed[caller] = usual + (took - usual) * _LEARNT
            self._left_s -= took - usual

    def _next_tick(self, now: float) -> None:
        busy_s, took = self._busy_s(), now - self._began
        self.is_busy = 0 < took < 10 * TICK_S and (busy_s - self._busy_before) / took > BUSY
        self._began, self._ends, self._busy_before = now, now + TICK_S, busy_s
        self._tick += 1
        for caller in self._taken:
            self._last_tick[caller] = self._tick
        if self._tick % _REMEMBERED_TICKS == 0:
            since = self._tick - _REMEMBERED_TICKS
            self._last_tick = {caller: tick for caller, tick in self._last_tick.items() if tick > since}
        mean_s = sum(self._taken.values()) / max(1, len(self._last_tick))
        self._taken.clear()
        if self.is_busy:
            self._busy_until = self._tick + _REMEMBERED_TICKS
        self.counts = self._tick < self._busy_until
        if self.is_busy and len(self._last_tick) > 1:
            self._free_s = max(FREE * TICK_S, SHARE * mean_s)
            self._part = max(_LEAST_PART, self._part * _SLOWER) if self._part else _FIRST_PART
        elif self.counts or self._queues:
            # Those that wait are let go of little by little: all at once they would fill the loop again.
            self._part = min(1.0, self._part * _FASTER)
        else:
            self._free_s, self._part = _UNBOUNDED, 0.0
            self._last_tick.clear()

    def _pump(self) -> None:
        """Gives as many turns as there is time for; what they took in truth is told later."""
        now = self._clock()
        if now >= self._ends:
            self._next_tick(now)
        # What one took beyond its turn is made up for, but not for long: all wait for it. Nor are turns saved up.
        self._left_s = min(max(self._left_s, -TICK_S) + (now - self._pumped_at) * self._part, 2 * _PUMP_S)
        self._pumped_at = now
        while self._left_s > 0 and self._queues:
            caller, queue = next(iter(self._queues.items()))
            del self._queues[caller]
            turn = queue.popleft()
            if queue:
                self._queues[caller] = queue  # behind the others
            if not turn.done():  # its call was cancelled
                turn.set_result(None)
                self._left_s -= self._slowed[caller]
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
