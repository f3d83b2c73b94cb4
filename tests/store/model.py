"""What a store is, in its simplest form: dicts in memory. The others are held to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from router_service.store.interface import (
    GRACE_MS,
    Attempt,
    Report,
    Reservation,
    Reserved,
    Spending,
    State,
    StoredTrace,
    Swapped,
    Swept,
    Taken,
    Trace,
    TraceQuery,
)
from tests.store.test_listing import passes


@dataclass
class Entry:
    reservation: Reservation | None = None
    answer: Reserved | None = None
    state: str = ""
    attempts: set[str] = field(default_factory=set)
    outcomes: set[str] = field(default_factory=set)
    traceless: bool = False


@dataclass
class Model:
    orphans_go: bool
    """Whether a sweep removes reports whose trace did not come; Redis does it by its own clock."""
    spent: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    ledger: dict[str, Entry] = field(default_factory=dict)
    kept: dict[str, Trace] = field(default_factory=dict)
    reports: dict[str, list[Report]] = field(default_factory=dict)
    bodies: dict[str, bytes] = field(default_factory=dict)
    needed: dict[str, int] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)
    shared: dict[str, State] = field(default_factory=dict)

    def _day(self, one: Reservation) -> list[int]:
        return self.spent.setdefault((one.policy_id, one.day), [0, 0])

    def reserve(self, one: Reservation) -> Reserved:
        entry = self.ledger.setdefault(one.trace_id, Entry())
        if entry.answer:
            return entry.answer
        day = self._day(one)
        if sum(day) >= one.budget or sum(day) + one.amount > one.budget:
            return Reserved(False, Spending(*day))
        day[1] += one.amount
        entry.reservation, entry.state, entry.answer = one, "open", Reserved(True, Spending(*day))
        return entry.answer

    def spending(self, policy_id: str, day: str) -> Spending:
        return Spending(*self.spent.get((policy_id, day), (0, 0)))

    def expire(self, now: int) -> int:
        due = 0
        for one in self.ledger.values():
            if one.state == "open" and one.reservation and one.reservation.expires_at <= now:
                one.state, due = "expired", due + 1
                day = self._day(one.reservation)
                day[0] += one.reservation.amount
                day[1] -= one.reservation.amount
        return due

    def report(self, said: Report) -> Taken:
        entry = self.ledger.setdefault(said.trace_id, Entry())
        ordered: list[Attempt] = []
        for one in said.attempts:
            if one.attempt_id not in entry.attempts:
                entry.attempts.add(one.attempt_id)
                ordered.append(one)
        if entry.reservation and (ordered or not said.attempts):
            day = self._day(entry.reservation)
            day[0] += sum(one.cost for one in ordered) - (entry.reservation.amount if entry.state == "expired" else 0)
            day[1] -= entry.reservation.amount if entry.state == "open" else 0
            entry.state = "reported"
        trace = self.kept.get(said.trace_id)
        if trace and trace.until_report:
            entry.traceless = True
            del self.kept[said.trace_id]
            self.reports.pop(said.trace_id, None)
        if (ordered or said.outcome not in entry.outcomes) and not entry.traceless:
            kept = Report(
                trace_id=said.trace_id,
                policy_id=said.policy_id,
                at=said.at,
                outcome=said.outcome,
                attempts=tuple(ordered),
                operation_id=said.operation_id,
                caller=said.caller,
            )
            self.reports.setdefault(said.trace_id, []).append(kept)
        entry.outcomes.add(said.outcome)
        new = tuple(one.attempt_id for one in ordered)
        return Taken(len(new), len(said.attempts) - len(new), new)

    def write_traces(self, traces: list[Trace]) -> None:
        for one in traces:
            entry = self.ledger.get(one.trace_id)
            for version in {one.catalog_version, one.figures or one.catalog_version}:
                self.needed[version] = max(self.needed.get(version, 0), one.expires_at)
            if one.until_report and entry and entry.outcomes and one.trace_id not in self.kept:
                entry.traceless = True
                self.reports.pop(one.trace_id, None)
            else:
                self.kept.setdefault(one.trace_id, one)

    def trace(self, trace_id: str) -> StoredTrace | None:
        found = self.kept.get(trace_id)
        return StoredTrace(found, tuple(self.reports.get(trace_id, ()))) if found else None

    def traces(self, query: TraceQuery) -> list[Trace]:
        return sorted((one for one in self.kept.values() if passes(one, query)), key=lambda one: -one.at)

    def keep_catalog(self, version: str, body: bytes) -> None:
        self.bodies.setdefault(version, body)
        self.needed.setdefault(version, 0)
        self.fresh.add(version)

    def states(self, since: int) -> tuple[State, ...]:
        return tuple(sorted((one for one in self.shared.values() if one.version > since), key=lambda one: one.version))

    def swap(self, changes: Sequence[State], versions: Iterable[int]) -> tuple[Swapped, ...]:
        """Versions are the store's to choose, as long as each is higher than all before."""
        choice = iter(versions)
        answers = []
        for one in changes:
            kept = self.shared.get(one.key, State(one.key, 0, b""))
            made = kept.version == one.version
            if made:
                kept = State(one.key, next(choice), one.body)
                assert kept.version > max((other.version for other in self.shared.values()), default=0)
                self.shared[one.key] = kept
            answers.append(Swapped(made, kept))
        assert next(choice, None) is None
        return tuple(answers)

    def sweep(self, now: int, keep: str, limit: int) -> Swept:
        expired = sorted((one for one in self.kept.values() if one.expires_at <= now), key=lambda one: one.expires_at)
        for one in expired[:limit]:
            del self.kept[one.trace_id]
            self.reports.pop(one.trace_id, None)
        if self.orphans_go:
            for trace_id in [one for one in self.reports if one not in self.kept]:
                left = [one for one in self.reports[trace_id] if one.at + GRACE_MS > now]
                self.reports[trace_id] = left
        if len(expired) >= limit:
            return Swept(limit, 0, more=True)
        for version in self.fresh | ({keep} & set(self.needed)):
            self.needed[version] = max(self.needed[version], now + GRACE_MS)
        self.fresh.clear()
        over = sorted((until, one) for one, until in self.needed.items() if until <= now and one != keep)[:limit]
        for _, version in over:
            del self.needed[version]
        gone = sum(self.bodies.pop(version, None) is not None for _, version in over)
        return Swept(len(expired), gone, more=len(over) >= limit)
