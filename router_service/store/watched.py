"""A store whose losses and returns are told: any call may tell that it is lost, only a write that it is back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from router_service.store.interface import (
    Report,
    Reservation,
    Reserved,
    Spending,
    State,
    Store,
    StoredTrace,
    StoreLost,
    Swapped,
    Swept,
    Taken,
    Trace,
    TracePage,
    TraceQuery,
)

_Answer = TypeVar("_Answer")


class WatchedStore:
    """Passes every call on. `tell` gets the loss, or None when a write went through after one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lost = False
        self.tell: Callable[[StoreLost | None], None] = lambda _: None

    @property
    def name(self) -> str:
        """What logs and metrics call it."""
        return self._store.name

    @property
    def is_lost(self) -> bool:
        """Whether a call failed since the last write that went through."""
        return self._lost

    async def open(self) -> None:
        """See Store."""
        await self._read(self._store.open())

    async def close(self) -> None:
        """See Store."""
        await self._store.close()

    async def reserve(self, reservation: Reservation) -> Reserved:
        """See Store."""
        return await self._written(self._store.reserve(reservation))

    async def draw(self, lease: str, drawn: Sequence[Reservation]) -> None:
        """See Store."""
        await self._written(self._store.draw(lease, drawn))

    async def spending(self, policy_id: str, day: str) -> Spending:
        """See Store."""
        return await self._read(self._store.spending(policy_id, day))

    async def expire(self, now: int, limit: int) -> int:
        """See Store."""
        return await self._read(self._store.expire(now, limit))

    async def report(self, report: Report) -> Taken:
        """See Store."""
        return await self._written(self._store.report(report))

    async def write_traces(self, traces: Sequence[Trace]) -> None:
        """See Store."""
        await self._written(self._store.write_traces(traces))

    async def trace(self, trace_id: str) -> StoredTrace | None:
        """See Store."""
        return await self._read(self._store.trace(trace_id))

    async def traces(self, query: TraceQuery, cursor: str, limit: int) -> TracePage:
        """See Store."""
        return await self._read(self._store.traces(query, cursor, limit))

    async def keep_catalog(self, version: str, body: bytes) -> None:
        """See Store."""
        await self._written(self._store.keep_catalog(version, body))

    async def catalog(self, version: str) -> bytes | None:
        """See Store."""
        return await self._read(self._store.catalog(version))

    async def states(self, since: int) -> tuple[State, ...]:
        """See Store."""
        return await self._read(self._store.states(since))

    async def swap(self, changes: Sequence[State]) -> tuple[Swapped, ...]:
        """See Store."""
        answers = await self._read(self._store.swap(changes))
        if any(one.made for one in answers):
            self._back()
        return answers

    async def sweep(self, now: int, keep: str, limit: int) -> Swept:
        """See Store."""
        return await self._read(self._store.sweep(now, keep, limit))

    async def _read(self, call: Awaitable[_Answer]) -> _Answer:
        """A call that may find nothing to write, so that its success says little of a full store."""
        try:
            return await call
        except StoreLost as lost:
            self._lost = True
            self.tell(lost)
            raise

    async def _written(self, call: Awaitable[_Answer]) -> _Answer:
        answer = await self._read(call)
        self._back()
        return answer

    def _back(self) -> None:
        if self._lost:
            self._lost = False
            self.tell(None)
