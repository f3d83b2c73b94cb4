"""A store in memory, as simple as its interface allows: for tests of what stands on a store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import msgspec

from router_service.store.interface import (
    GRACE_MS,
    REMEMBERED_MS,
    SPENDING_DAYS,
    Attempt,
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
    Trace,
    TracePage,
    TraceQuery,
)


@dataclass(slots=True)
class _Held:
    """A reservation that was made, with the answer to it; `open` until a report or its time ends it."""

    reservation: Reservation
    answer: Reserved
    open: bool = True
    expired: bool = False


@dataclass(slots=True)
class MemoryStore:
    """Keeps all in dicts. While `lost` is set every method raises StoreLost; `calls` counts those that were taken."""

    lost: bool = False
    calls: int = 0
    written: dict[str, Trace] = field(default_factory=dict)
    reports: dict[str, list[Report]] = field(default_factory=dict)
    catalogs: dict[str, bytes] = field(default_factory=dict)
    shared: dict[str, State] = field(default_factory=dict)  # health states
    _version: int = 0
    _settled: dict[tuple[str, str], int] = field(default_factory=dict)
    _held: dict[str, _Held] = field(default_factory=dict)
    # Attempts by trace; they and the last word of them outlive the trace, since a report may come again.
    _known: dict[str, set[str]] = field(default_factory=dict)
    _last_word: dict[str, int] = field(default_factory=dict)
    _gone: set[str] = field(default_factory=set)  # traces that were kept until their report
    _spared: dict[str, int] = field(default_factory=dict)  # versions: until when they stay without a trace

    @property
    def name(self) -> str:
        return "memory"

    async def open(self) -> None:
        await self._call()

    async def close(self) -> None:
        self.lost = True

    async def reserve(self, reservation: Reservation) -> Reserved:
        await self._call()
        held = self._held.get(reservation.trace_id)
        if held is not None:
            return held.answer
        spent = self._spending(reservation.policy_id, reservation.day)
        if spent.total >= reservation.budget or reservation.amount > reservation.budget - spent.total:
            return Reserved(made=False, spending=spent)
        answer = Reserved(made=True, spending=Spending(spent.settled, spent.reserved + reservation.amount))
        self._held[reservation.trace_id] = _Held(reservation, answer)
        self._last_word[reservation.trace_id] = reservation.at
        return answer

    async def draw(self, lease: str, drawn: Sequence[Reservation]) -> None:
        await self._call()
        held = self._held.get(lease)
        for one in drawn:
            if one.trace_id in self._held:
                continue
            spent = self._spending(one.policy_id, one.day)
            if held is not None and (held.open or held.expired):
                moved = min(one.amount, held.reservation.amount)
                rest = msgspec.structs.replace(held.reservation, amount=held.reservation.amount - moved)
                if held.expired:
                    self._settle(held, -moved)
                held.reservation = rest
            self._held[one.trace_id] = _Held(one, Reserved(made=True, spending=spent))
            self._last_word[one.trace_id] = one.at

    async def spending(self, policy_id: str, day: str) -> Spending:
        await self._call()
        return self._spending(policy_id, day)

    async def expire(self, now: int, limit: int) -> int:
        await self._call()
        due = [one for one in self._held.values() if one.open and one.reservation.expires_at <= now][:limit]
        for held in due:
            held.open, held.expired = False, True
            self._last_word[held.reservation.trace_id] = now
            self._settle(held, held.reservation.amount)
        return len(due)

    async def report(self, report: Report) -> Taken:
        await self._call()
        known = self._known.setdefault(report.trace_id, set())
        found: dict[str, Attempt] = {}
        for one in report.attempts:
            if one.attempt_id not in known:
                found.setdefault(one.attempt_id, one)
        known.update(found)
        new = tuple(found.values())
        self._last_word[report.trace_id] = report.at
        held = self._held.get(report.trace_id)
        if held is not None and (new or not report.attempts):
            self._settle(held, sum(one.cost for one in new) - (held.reservation.amount if held.expired else 0))
            held.open = held.expired = False
        told = {one.outcome for one in self.reports.get(report.trace_id, ())}
        if report.trace_id not in self._gone and (new or report.outcome not in told):
            self.reports.setdefault(report.trace_id, []).append(msgspec.structs.replace(report, attempts=new))
        trace = self.written.get(report.trace_id)
        if trace is not None and trace.until_report:
            self._remove(trace)
        return Taken(len(new), len(report.attempts) - len(new), tuple(found))

    async def write_traces(self, traces: Sequence[Trace]) -> None:
        await self._call()
        for trace in traces:
            if trace.trace_id in self._gone:
                continue
            self.written.setdefault(trace.trace_id, trace)
            if trace.until_report and trace.trace_id in self.reports:
                self._remove(trace)

    async def trace(self, trace_id: str) -> StoredTrace | None:
        await self._call()
        trace = self.written.get(trace_id)
        return None if trace is None else StoredTrace(trace, tuple(self.reports.get(trace_id, ())))

    async def traces(self, query: TraceQuery, cursor: str, limit: int) -> TracePage:
        await self._call()
        before = _read_cursor(cursor)
        found = sorted((one for one in self.written.values() if _matches(query, one)), key=_place, reverse=True)
        left = [one for one in found if before is None or _place(one) < before]
        page = left[: max(limit, 1)]
        return TracePage(tuple(page), _cursor(page[-1]) if len(left) > len(page) else "")

    async def keep_catalog(self, version: str, body: bytes) -> None:
        await self._call()
        self.catalogs.setdefault(version, body)
        self._spared.pop(version, None)

    async def catalog(self, version: str) -> bytes | None:
        await self._call()
        return self.catalogs.get(version)

    async def states(self, since: int) -> tuple[State, ...]:
        await self._call()
        return tuple(sorted((one for one in self.shared.values() if one.version > since), key=lambda one: one.version))

    async def swap(self, changes: Sequence[State]) -> tuple[Swapped, ...]:
        await self._call()
        answers = []
        for one in changes:
            kept = self.shared.get(one.key) or State(one.key, 0, b"")
            made = kept.version == one.version
            if made:
                self._version += 1
                kept = self.shared[one.key] = State(one.key, self._version, one.body)
            answers.append(Swapped(made, kept))
        return tuple(answers)

    async def sweep(self, now: int, keep: str, limit: int) -> Swept:
        await self._call()
        self._spared[keep] = now + GRACE_MS
        expired = sorted(
            (one for one in self.written.values() if one.expires_at <= now), key=lambda one: one.expires_at
        )
        removed = 0
        for trace in expired[:limit]:
            removed += self._remove(trace)
            await asyncio.sleep(0)
        if removed >= limit:
            return Swept(removed, 0, more=True)
        self._forget(now)
        needed = {version for one in self.written.values() for version in (one.catalog_version, one.figures)} | {keep}
        for version in self.catalogs:
            self._spared.setdefault(version, now + GRACE_MS)
        gone = [one for one in self.catalogs if one not in needed and self._spared[one] <= now][:limit]
        for version in gone:
            del self.catalogs[version], self._spared[version]
        return Swept(removed, len(gone), more=len(gone) >= limit)

    async def _call(self) -> None:
        """Lets others go first, as a store of its own process does; what follows it in a method is one step."""
        await asyncio.sleep(0)
        if self.lost:
            raise StoreLost("memory: lost by the test")
        self.calls += 1

    def _spending(self, policy_id: str, day: str) -> Spending:
        held = (one.reservation for one in self._held.values() if one.open)
        reserved = sum(one.amount for one in held if (one.policy_id, one.day) == (policy_id, day))
        return Spending(self._settled.get((policy_id, day), 0), reserved)

    def _settle(self, held: _Held, amount: int) -> None:
        """Adds an amount to the day of the reservation, whatever day it is now."""
        key = (held.reservation.policy_id, held.reservation.day)
        self._settled[key] = self._settled.get(key, 0) + amount

    def _remove(self, trace: Trace) -> bool:
        """Whether it was there."""
        self.reports.pop(trace.trace_id, None)
        if trace.until_report:
            self._gone.add(trace.trace_id)
        return self.written.pop(trace.trace_id, None) is not None

    def _forget(self, now: int) -> None:
        """Removes what is no longer remembered; an open reservation is, until `expire` settles it."""
        for trace_id, reports in list(self.reports.items()):
            if trace_id not in self.written and max(one.at for one in reports) + GRACE_MS <= now:
                del self.reports[trace_id]
        for trace_id, at in list(self._last_word.items()):
            held = self._held.get(trace_id)
            if at + REMEMBERED_MS <= now and trace_id not in self.written and not (held and held.open):
                del self._last_word[trace_id]
                self._held.pop(trace_id, None)
                self._known.pop(trace_id, None)
                self._gone.discard(trace_id)
        first = (datetime.fromtimestamp(now / 1000, UTC) - timedelta(days=SPENDING_DAYS)).date().isoformat()
        for policy_id, day in list(self._settled):
            if day < first:
                del self._settled[policy_id, day]


def _matches(query: TraceQuery, trace: Trace) -> bool:
    return (
        query.policy_id in ("", trace.policy_id)
        and query.outcome in ("", trace.outcome)
        and (not query.endpoint_id or query.endpoint_id in trace.endpoints)
        and (query.since is None or query.since <= trace.at)
        and (query.until is None or trace.at < query.until)
        and (query.policies is None or trace.policy_id in query.policies)
    )


def _place(trace: Trace) -> tuple[int, str]:
    """Where a trace stands among all: by its time, then by its id."""
    return trace.at, trace.trace_id


def _cursor(trace: Trace) -> str:
    return f"{trace.at}/{trace.trace_id}"


def _read_cursor(cursor: str) -> tuple[int, str] | None:
    """Raises ValueError for a cursor that was not made here."""
    if not cursor:
        return None
    at, _, trace_id = cursor.partition("/")
    if not at.isdecimal() or not trace_id:
        raise ValueError(f"no cursor of this store: {cursor!r}")
    return int(at), trace_id
