"""What came of decisions: attempts that are known change nothing, new ones settle and are kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from router_service.store.interface import GRACE_MS, REMEMBERED_MS, Attempt, Report, Taken
from router_service.store.packed import pack_attempts
from router_service.store.sqlite import rows
from router_service.store.sqlite.money import Day, Days

_LEDGER = "trace_id, policy_id, day, amount, state, attempts, outcomes, traceless, forget_at"


@dataclass(slots=True)
class _Entry:
    """What is known of a trace: its reservation, if it has one, and what was reported of it."""

    policy_id: str
    day: str | None = None
    amount: int = 0
    state: str | None = None
    attempts: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    traceless: bool = False
    forget_at: int = 0

    def new_attempts(self, report: Report) -> list[Attempt]:
        """The report's attempts that are not known, each once."""
        known = set(self.attempts)
        new: dict[str, Attempt] = {}
        for one in report.attempts:
            if one.attempt_id not in known:
                new.setdefault(one.attempt_id, one)
        return list(new.values())

    def settle(self, days: Days, cost: int) -> None:
        """Puts a report's costs in the place of the reservation, or of the estimate it was settled at."""
        # A day that is no longer known would begin again at what this report costs.
        if self.day is None or (self.policy_id, self.day) not in days:
            return
        reserved = self.amount if self.state == "open" else 0
        settled = self.amount if self.state == "expired" else 0
        days.add((self.policy_id, self.day), settled=cost - settled, reserved=-reserved)
        self.state = "reported"


def report(db: sqlite3.Connection, asked: Sequence[Report]) -> list[Taken]:
    """Takes each, in the order of coming."""
    ids = rows.keys({one.trace_id for one in asked})
    entries = {
        trace_id: _Entry(
            *(policy, day, int(amount or 0), state),
            *(msgspec.json.decode(attempts), msgspec.json.decode(outcomes), bool(traceless), forget_at),
        )
        for trace_id, policy, day, amount, state, attempts, outcomes, traceless, forget_at in rows.select(
            db, _LEDGER, "json_each(?) AS asked CROSS JOIN ledger ON trace_id = asked.value", ids
        )
    }
    traces: dict[str, bool] = {
        trace_id: bool(until_report)
        for trace_id, until_report in rows.select(
            db, "trace_id, until_report", "json_each(?) AS asked CROSS JOIN trace ON trace_id = asked.value", ids
        )
    }
    days = Days(db, (day for one in entries.values() if (day := _day(one)) is not None))
    kept, answers = [], []
    for one in asked:
        entry = entries.setdefault(one.trace_id, _Entry(one.policy_id))
        new = entry.new_attempts(one)
        if new or not one.attempts:
            entry.settle(days, sum(attempt.cost for attempt in new))
        entry.traceless = entry.traceless or traces.get(one.trace_id, False)
        if (new or one.outcome not in entry.outcomes) and not entry.traceless:
            orphan_until = None if one.trace_id in traces else one.at + GRACE_MS
            head = (one.trace_id, one.at, one.policy_id, one.outcome, pack_attempts(new))
            kept.append((*head, one.operation_id, one.caller, orphan_until))
        new_ids = tuple(attempt.attempt_id for attempt in new)
        entry.attempts += new_ids
        entry.outcomes += [one.outcome] if one.outcome not in entry.outcomes else []
        entry.forget_at = max(entry.forget_at, one.at + REMEMBERED_MS)
        answers.append(Taken(len(new), len(one.attempts) - len(new), new_ids))
    days.write()
    _write_entries(db, entries)
    columns = "trace_id, at, policy_id, outcome, attempts, operation_id, caller, orphan_until"
    rows.insert(db, f"INSERT INTO report ({columns})", kept)
    if until_report := [trace_id for trace_id, until in traces.items() if until]:
        remove(db, until_report)
    return answers


def _day(entry: _Entry) -> Day | None:
    return None if entry.day is None else (entry.policy_id, entry.day)


def _write_entries(db: sqlite3.Connection, entries: dict[str, _Entry]) -> None:
    rows.insert(
        db,
        "INSERT INTO ledger (trace_id, policy_id, state, attempts, outcomes, traceless, forget_at)",
        [
            (
                *(trace_id, one.policy_id, one.state),
                *(rows.keys(one.attempts), rows.keys(one.outcomes), one.traceless, one.forget_at),
            )
            for trace_id, one in entries.items()
        ],
        "ON CONFLICT DO UPDATE SET state = excluded.state, attempts = excluded.attempts, "
        "outcomes = excluded.outcomes, traceless = excluded.traceless, forget_at = excluded.forget_at",
    )


def remove(db: sqlite3.Connection, trace_ids: Iterable[str]) -> None:
    """Removes traces, what lists them, and what was reported of them; the ledger goes on knowing the attempts."""
    ids = (rows.keys(trace_ids),)
    db.execute(
        "DELETE FROM candidate WHERE (endpoint_id, at, id) IN (SELECT one.value, trace.at, trace.id "
        "FROM json_each(?) AS asked CROSS JOIN trace ON trace_id = asked.value, json_each(trace.endpoints) AS one)",
        ids,
    )
    for table in ("report", "trace"):
        db.execute(f"DELETE FROM {table} WHERE trace_id IN (SELECT value FROM json_each(?))", ids)  # noqa: S608 - constants
