"""Reservations, and what is spent on a day. Amounts are text in the file and integers here, so nothing overflows.

Each function gets all calls of its kind in a batch, inside a transaction that no other writer can come between.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence

from router_service.store.interface import REMEMBERED_MS, Reservation, Reserved, Spending
from router_service.store.sqlite import rows

Day = tuple[str, str]
"""A policy and a day."""


class Days:
    """What is spent on the days that a batch is about, read at its start and written at its end."""

    def __init__(self, db: sqlite3.Connection, days: Iterable[Day]) -> None:
        self._db = db
        found = rows.select(
            db,
            "policy_id, day, settled, reserved",
            "json_each(?) AS asked CROSS JOIN spent ON policy_id = json_extract(asked.value, '$[0]') "
            "AND day = json_extract(asked.value, '$[1]')",
            rows.keys(set(days)),
        )
        self._now = {(policy, day): Spending(int(settled), int(reserved)) for policy, day, settled, reserved in found}
        self._changed: set[Day] = set()

    def __contains__(self, day: Day) -> bool:
        return day in self._now

    def __getitem__(self, day: Day) -> Spending:
        return self._now.get(day) or Spending()

    def add(self, day: Day, settled: int, reserved: int) -> Spending:
        """Adds to a day, or takes off; what it is then. A day whose spending was lost never falls under nothing."""
        before = self[day]
        after = Spending(max(0, before.settled + settled), max(0, before.reserved + reserved))
        self._now[day] = after
        self._changed.add(day)
        return after

    def write(self) -> None:
        """Writes what changed."""
        rows.insert(
            self._db,
            "INSERT INTO spent (policy_id, day, settled, reserved)",
            [(*day, str(self[day].settled), str(self[day].reserved)) for day in self._changed],
            "ON CONFLICT DO UPDATE SET settled = excluded.settled, reserved = excluded.reserved",
        )


def reserve(db: sqlite3.Connection, asked: Sequence[Reservation]) -> list[Reserved]:
    """Checks each and reserves it, in the order of coming."""
    known = {
        trace_id: Reserved(True, Spending(int(settled), int(reserved)))
        for trace_id, settled, reserved in rows.select(
            db,
            "trace_id, settled_then, reserved_then",
            "json_each(?) AS asked CROSS JOIN ledger ON trace_id = asked.value WHERE state IS NOT NULL",
            rows.keys(one.trace_id for one in asked),
        )
    }
    days = Days(db, ((one.policy_id, one.day) for one in asked))
    answers, made = [], []
    for one in asked:
        answer = known.get(one.trace_id)
        if answer is None:
            answer = _reserve(days, one)
            if answer.made:
                known[one.trace_id] = answer
                made.append((one, answer.spending))
        answers.append(answer)
    _insert(db, made)
    days.write()
    return answers


def _insert(db: sqlite3.Connection, made: Sequence[tuple[Reservation, Spending]]) -> None:
    rows.insert(
        db,
        "INSERT INTO ledger (trace_id, policy_id, day, amount, state, settled_then, reserved_then, expires_at, "
        "attempts, outcomes, traceless, forget_at)",
        [
            (
                *(one.trace_id, one.policy_id, one.day, str(one.amount), "open"),
                *(str(spending.settled), str(spending.reserved), one.expires_at),
                *("[]", "[]", 0, one.expires_at + REMEMBERED_MS),
            )
            for one, spending in made
        ],
        # A report that came first made the row.
        "ON CONFLICT DO UPDATE SET policy_id = excluded.policy_id, day = excluded.day, amount = excluded.amount, "
        "state = excluded.state, settled_then = excluded.settled_then, reserved_then = excluded.reserved_then, "
        "expires_at = excluded.expires_at, forget_at = max(forget_at, excluded.forget_at)",
    )


def draw(db: sqlite3.Connection, asked: Sequence[tuple[str, Sequence[Reservation]]]) -> list[None]:
    """For each (lease, reservations): takes them out of it, once each, whatever became of it."""
    ids = rows.keys({one.trace_id for _, drawn in asked for one in drawn} | {lease for lease, _ in asked})
    known = {
        trace_id: (int(amount), state)
        for trace_id, amount, state in rows.select(
            db,
            "trace_id, amount, state",
            "json_each(?) AS asked CROSS JOIN ledger ON trace_id = asked.value WHERE state IS NOT NULL",
            ids,
        )
    }
    days = Days(db, ((one.policy_id, one.day) for _, drawn in asked for one in drawn))
    made: list[tuple[Reservation, Spending]] = []
    leases: dict[str, int] = {}
    for lease, drawn in asked:
        held, state = known.get(lease, (0, ""))
        for one in drawn:
            if one.trace_id in known:
                continue
            known[one.trace_id] = (one.amount, "open")
            moved = min(one.amount, held) if state in ("open", "expired") else 0
            held -= moved
            settled, reserved = (0, one.amount - moved) if state == "open" else (-moved, one.amount)
            made.append((one, days.add((one.policy_id, one.day), settled, reserved)))
        known[lease] = (held, state)
        leases[lease] = held
    _insert(db, made)
    db.executemany(
        "UPDATE ledger SET amount = ? WHERE trace_id = ?", [(str(held), lease) for lease, held in leases.items()]
    )
    days.write()
    return [None] * len(asked)


def _reserve(days: Days, one: Reservation) -> Reserved:
    day = (one.policy_id, one.day)
    spent = days[day]
    if spent.total >= one.budget or spent.total + one.amount > one.budget:
        return Reserved(False, spent)
    return Reserved(True, days.add(day, settled=0, reserved=one.amount))


def expire(db: sqlite3.Connection, asked: Sequence[tuple[int, int]]) -> list[int]:
    """For each (now, limit): settles what is due, and says how many."""
    return [_expire(db, now, limit) for now, limit in asked]


def _expire(db: sqlite3.Connection, now: int, limit: int) -> int:
    due = rows.select(
        db,
        "trace_id, policy_id, day, amount",
        "(SELECT * FROM ledger WHERE state = 'open' AND expires_at <= ? ORDER BY expires_at LIMIT ?)",
        *(now, limit),
    )
    amounts: defaultdict[Day, int] = defaultdict(int)
    for _, policy, day, amount in due:
        amounts[policy, day] += int(amount)
    days = Days(db, amounts)
    for day, amount in amounts.items():
        days.add(day, settled=amount, reserved=-amount)
    days.write()
    db.execute(
        "UPDATE ledger SET state = 'expired' WHERE trace_id IN (SELECT value FROM json_each(?))",
        (rows.keys(trace_id for trace_id, *_ in due),),
    )
    return len(due)


def spending(db: sqlite3.Connection, day: Day) -> Spending:
    """What is spent on a day."""
    found = db.execute("SELECT settled, reserved FROM spent WHERE policy_id = ? AND day = ?", day).fetchone()
    return Spending(int(found[0]), int(found[1])) if found else Spending()
