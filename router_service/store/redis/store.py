"""RedisStore: each call goes one of two ways to the server, and comes back within its time or is lost."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from router_service.store.interface import (
    GRACE_MS,
    Report,
    Reservation,
    Reserved,
    Spending,
    State,
    StoredTrace,
    StoreLost,
    Swapped,
    Swept,
    Taken,
    Timeouts,
    Trace,
    TracePage,
    TraceQuery,
)
from router_service.store.redis import listing, money
from router_service.store.redis.keys import Keys
from router_service.store.redis.lane import CONNECTIONS, Lane
from router_service.store.redis.scripts import KEEP_CATALOG, SWEEP_CATALOGS
from router_service.store.redis.states import States
from router_service.store.redis.traces import Traces
from router_service.store.states import all_since, swap_all

T = TypeVar("T")

# The form of what is stored; a later one brings an older one up to date.
FORM = 1
# Traces written, and expired ones removed, at once: a millisecond or so in which the server does nothing else.
WRITE_STEP = 64
SWEEP_STEP = 16
# New versions that get their time to wait in one step. So many that they cannot come faster, and a sweep ends.
FRESH_STEP = 64
# A step of a sweep is followed by a pause of so many times its length.
SWEEP_PAUSE = 2


class RedisStore:
    """See interface.Store. Any number of instances may share it; it needs Valkey or Redis 7."""

    def __init__(self, url: str, timeouts: Timeouts | None = None, prefix: str = "router:") -> None:
        self._url, self._timeouts, self._keys = url, timeouts or Timeouts(), Keys(prefix)
        told = parse_url(url)
        self._secret = str(told.get("password") or "")
        place = told.get("path") or f"{told.get('host', 'localhost')}:{told.get('port', 6379)}"
        self._place = f"redis {place}/{told.get('db', 0)}"
        self._opened = False
        # Here too, so that a URL that redis-py cannot take is refused at once; nothing connects yet.
        self._build()

    @property
    def name(self) -> str:
        return "redis"

    async def open(self) -> None:
        if not self._opened:
            self._opened = True
            self._build()
        await self._within(self._timeouts.other, self._prepare)

    def _build(self) -> None:
        keys = self._keys
        self._quick, self._slow = self._lane(self._timeouts.money), self._lane(self._timeouts.other)
        self._money, self._expiry = money.Money(self._quick, keys), money.Money(self._slow, keys)
        self._traces_quick, self._traces = Traces(self._quick, keys), Traces(self._slow, keys)
        self._states, self._lasting_states = States(self._quick, keys), States(self._slow, keys)
        self._listing = listing.Listing(self._slow, keys, self._traces)

    def _lane(self, timeout_s: float) -> Lane:
        # The lane bounds the time of each pipeline as a whole, and tries again itself.
        pool: Any = ConnectionPool.from_url(
            self._url,
            max_connections=CONNECTIONS,
            socket_timeout=None,
            socket_connect_timeout=timeout_s,
            retry=Retry(NoBackoff(), 0),
        )
        pool.make_connection()
        return Lane(pool, timeout_s, self._secret)

    async def _prepare(self) -> None:
        [version] = await self._slow.ask(("EVAL", "return redis.REDIS_VERSION or ''", 0))
        if int(version.partition(b".")[0] or 0) < 7:
            raise StoreLost("it is too old: the store needs Valkey or Redis 7")
        _, form = await self._slow.ask(
            ("SET", self._keys.meta, FORM, "NX", "PX", money.SPENDING_MS), ("GET", self._keys.meta)
        )
        if int(form) > FORM:
            raise StoreLost(
                f"what it holds has form {int(form)}, and this version of the service knows {FORM}: "
                "run the newer version, or choose another prefix"
            )

    async def close(self) -> None:
        self._opened = False
        for lane in (self._quick, self._slow):
            await lane.close()

    async def reserve(self, reservation: Reservation) -> Reserved:
        return await self._within(self._timeouts.money, self._money.reserve, reservation)

    async def draw(self, lease: str, drawn: Sequence[Reservation]) -> None:
        await self._within(self._timeouts.other, self._money.draw, lease, drawn)

    async def spending(self, policy_id: str, day: str) -> Spending:
        return await self._within(self._timeouts.money, self._money.spending, policy_id, day)

    async def expire(self, now: int, limit: int) -> int:
        settled = 0
        while settled < limit:
            left = limit - settled
            due = await self._within(self._timeouts.other, self._expiry.due, now, left)
            if not due:
                break
            for policy_id, members in due:
                settled += await self._within(self._timeouts.other, self._expiry.expire, policy_id, members)
        return settled

    async def report(self, report: Report) -> Taken:
        return await self._within(self._timeouts.money, self._report, report)

    async def _report(self, report: Report) -> Taken:
        day = money.supposed_day(report.at)
        while True:
            # The look comes after the script: whoever writes the trace in between finds the report.
            answer, flag, life = await self._quick.ask(
                self._money.report(report, day), *self._traces_quick.look(report.trace_id)
            )
            taken = money.taken(answer)
            if isinstance(taken, Taken):
                break
            day = taken
        await self._traces_quick.after_report(report, flag, life)
        return taken

    async def write_traces(self, traces: Sequence[Trace]) -> None:
        for begin in range(0, len(traces), WRITE_STEP):
            step = traces[begin : begin + WRITE_STEP]
            await self._within(self._timeouts.other, self._traces.write, step)

    async def trace(self, trace_id: str) -> StoredTrace | None:
        return await self._within(self._timeouts.other, self._traces_quick.read, trace_id)

    async def traces(self, query: TraceQuery, cursor: str, limit: int) -> TracePage:
        after = listing.position(cursor)
        return await self._within(self._timeouts.other, self._listing.page, query, after, max(1, limit))

    async def keep_catalog(self, version: str, body: bytes) -> None:
        command = KEEP_CATALOG(self._keys.catalogs, version, body, money.SPENDING_MS)
        await self._within(self._timeouts.other, self._slow.ask, command)

    async def catalog(self, version: str) -> bytes | None:
        command = ("HGET", self._keys.catalogs[0], version)
        [body] = await self._within(self._timeouts.other, self._slow.ask, command)
        return None if body is None else bytes(body)

    async def states(self, since: int) -> tuple[State, ...]:
        return await all_since(functools.partial(self._within, self._timeouts.money, self._states.page), since)

    async def swap(self, changes: Sequence[State]) -> tuple[Swapped, ...]:
        return await swap_all(functools.partial(self._within, self._timeouts.money, self._states.swap), changes)

    async def sweep(self, now: int, keep: str, limit: int) -> Swept:
        found = gone = 0
        while found < limit:
            size = min(SWEEP_STEP, limit - found)
            begun = time.monotonic()
            step, removed = await self._within(self._timeouts.other, self._traces.sweep, now, size)
            found, gone = found + step, gone + removed
            if step < size:
                break
            await asyncio.sleep(SWEEP_PAUSE * (time.monotonic() - begun))
        await self._within(self._timeouts.other, self._expiry.forget, now)
        await self._within(self._timeouts.other, self._lasting_states.lengthen)
        if found >= limit:
            return Swept(gone, 0, more=True)
        versions, kept = await self._sweep_kept(now, keep, limit)
        return Swept(gone, kept, more=versions >= limit)

    async def _sweep_kept(self, now: int, keep: str, limit: int) -> tuple[int, int]:
        """Removes bodies kept by version; how many versions were found, and how many bodies went."""
        found, gone, more = 0, 0, True
        while more and found < limit:
            begun, size = time.monotonic(), min(SWEEP_STEP, limit - found)
            arguments = (now, keep, now + GRACE_MS, money.SPENDING_MS, size, FRESH_STEP)
            command = SWEEP_CATALOGS(self._keys.catalogs, *arguments)
            [(more, step, removed)] = await self._within(self._timeouts.other, self._slow.ask, command)
            found, gone = found + step, gone + removed
            if more:
                await asyncio.sleep(SWEEP_PAUSE * (time.monotonic() - begun))
        return found, gone

    async def _within(self, timeout_s: float, work: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        try:
            if not self._opened:
                raise StoreLost("closed, or not opened")
            async with asyncio.timeout(timeout_s):
                return await work(*arguments)
        except TimeoutError:
            raise StoreLost(f"{self._place}: no answer within {timeout_s:g} s") from None
        except (StoreLost, UnicodeError) as error:
            raise StoreLost(f"{self._place}: {error}") from None
