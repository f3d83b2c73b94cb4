"""SqliteStore: each call goes to one of three threads, and comes back within its time or is lost."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from router_service.store.interface import (
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
from router_service.store.sqlite import catalogs, listing, money, reports, states, sweep, traces
from router_service.store.sqlite.batches import Reader, Writer
from router_service.store.sqlite.checkpoint import Checkpointer
from router_service.store.sqlite.connection import Place, Session
from router_service.store.sqlite.sweep import Step
from router_service.store.sqlite.worker import Worker
from router_service.store.states import all_since, swap_all

T = TypeVar("T")

# Traces written, and expired ones removed, in one step, in a millisecond or two that reservations may have to wait.
WRITE_STEP = 64
# Traces, and what is taken out of leases, come ten times a second, so that most go in one step each.
TRACES_STEP = 192
SWEEP_STEP = 8
# A step is followed by a pause of so many times its length: a sweep's by a long one, unless it lags behind by an hour.
EXPIRE_PAUSE, SWEEP_PAUSE, LATE_PAUSE = 2, 9, 1
LATE_MS = 3600 * 1000


class SqliteStore:
    """See interface.Store. Several processes of one machine may share the file."""

    def __init__(self, path: Path, timeouts: Timeouts | None = None) -> None:
        self._place = Place(path.absolute())
        self._timeouts = timeouts or Timeouts()
        self._workers: dict[str, Worker] = {}
        self._checkpointer: Checkpointer | None = None

    @property
    def name(self) -> str:
        return "sqlite"

    async def open(self) -> None:
        if not self._workers:
            writing = Session(self._place)
            self._workers["write"] = Worker("store-write", Writer(writing), writing.drop)
            # Lists may take long, so what is had by its key does not wait behind them.
            for kind in ("read", "list"):
                session = Session(self._place)
                reader = Reader(session)
                self._workers[kind] = Worker(f"store-{kind}", reader, session.drop, reader.interrupt)
            self._checkpointer = Checkpointer(Session(self._place))
        await self._write(_probe, None)

    async def close(self) -> None:
        workers, self._workers = self._workers, {}
        checkpointer, self._checkpointer = self._checkpointer, None
        ending = [worker.close(self._timeouts.other) for worker in workers.values()]
        if checkpointer is not None:
            ending.append(checkpointer.close(self._timeouts.other))
        await asyncio.gather(*ending)
        self._place.close()

    async def reserve(self, reservation: Reservation) -> Reserved:
        return await self._write(money.reserve, reservation, self._timeouts.money)

    async def draw(self, lease: str, drawn: Sequence[Reservation]) -> None:
        for begin in range(0, len(drawn), TRACES_STEP):
            await self._write(money.draw, (lease, drawn[begin : begin + TRACES_STEP]))

    async def spending(self, policy_id: str, day: str) -> Spending:
        found: Spending = await self._call("read", money.spending, (policy_id, day), self._timeouts.money)
        return found

    async def expire(self, now: int, limit: int) -> int:
        return await self._stepwise(money.expire, now, limit, WRITE_STEP, EXPIRE_PAUSE)

    async def report(self, report: Report) -> Taken:
        return await self._write(reports.report, report, self._timeouts.money)

    async def write_traces(self, traces_: Sequence[Trace]) -> None:
        for begin in range(0, len(traces_), TRACES_STEP):
            await self._write(traces.write, traces_[begin : begin + TRACES_STEP])

    async def trace(self, trace_id: str) -> StoredTrace | None:
        found: StoredTrace | None = await self._call("read", traces.read, trace_id)
        return found

    async def traces(self, query: TraceQuery, cursor: str, limit: int) -> TracePage:
        asked = (query, listing.position(cursor), max(1, limit))
        found: TracePage = await self._call("list", listing.page, asked)
        return found

    async def keep_catalog(self, version: str, body: bytes) -> None:
        await self._write(catalogs.keep, (version, body))

    async def catalog(self, version: str) -> bytes | None:
        found: bytes | None = await self._call("read", catalogs.read, version)
        return found

    async def states(self, since: int) -> tuple[State, ...]:
        return await all_since(self._states, since)

    async def _states(self, since: int, limit: int) -> list[State]:
        found: list[State] = await self._call("read", states.since, (since, limit), self._timeouts.money)
        return found

    async def swap(self, changes: Sequence[State]) -> tuple[Swapped, ...]:
        return await swap_all(self._swap, changes)

    async def _swap(self, changes: Sequence[State]) -> list[Swapped]:
        return await self._write(states.swap, changes, self._timeouts.money)

    async def sweep(self, now: int, keep: str, limit: int) -> Swept:
        oldest: int | None = await self._call("read", sweep.oldest, None)
        pause = LATE_PAUSE if oldest is not None and oldest < now - LATE_MS else SWEEP_PAUSE
        gone = await self._stepwise(sweep.traces, now, limit, SWEEP_STEP, pause)
        for step in sweep.forgotten:
            await self._stepwise(step, now, sys.maxsize, WRITE_STEP, pause)
        if gone >= limit:
            return Swept(gone, 0, more=True)
        found, kept = await self._sweep_kept(now, keep, limit, pause)
        return Swept(gone, kept, more=found >= limit)

    async def _sweep_kept(self, now: int, keep: str, limit: int, pause: int) -> tuple[int, int]:
        """Removes bodies kept by version; how many versions were found, and how many bodies went."""
        found, gone, more = 0, 0, True
        while more and found < limit:
            begun = time.monotonic()
            more, step, removed = await self._write(sweep.kept, (now, keep, min(SWEEP_STEP, limit - found)))
            found, gone = found + step, gone + removed
            if more:
                await asyncio.sleep(pause * (time.monotonic() - begun))
        return found, gone

    async def _stepwise(self, step: Step, now: int, limit: int, size: int, pause: int) -> int:
        """Runs a step until it finds no more or `limit` is reached, with pauses in which others have the file."""
        done = 0
        while done < limit:
            size = min(size, limit - done)
            begun = time.monotonic()
            found = await self._write(step, (now, size))
            done += found
            if found < size:
                break
            await asyncio.sleep(pause * (time.monotonic() - begun))
        return done

    async def _write(
        self, run: Callable[[Any, Sequence[Any]], list[T]], argument: object, timeout_s: float | None = None
    ) -> T:
        # The writer calls `run` once for all that is alike in a batch, and gives each call its own of the results.
        answer: T = await self._call("write", run, argument, timeout_s)
        return answer

    async def _call(self, kind: str, run: Callable[..., Any], argument: object, timeout_s: float | None = None) -> Any:
        try:
            if (worker := self._workers.get(kind)) is None:
                raise StoreLost("closed, or not opened")
            return await worker.call(run, argument, timeout_s or self._timeouts.other)
        except StoreLost as error:
            raise StoreLost(f"sqlite {self._place.path}: {error}") from None


def _probe(db: sqlite3.Connection, asked: Sequence[object]) -> list[None]:
    """Writes what is there: what keeps a file from being written shows only then."""
    db.execute("UPDATE migration SET applied_at = applied_at")
    return [None] * len(asked)
