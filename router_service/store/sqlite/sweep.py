"""Removes what is over, in steps so small that no other writer waits long for the lock."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Sequence

from router_service.store.interface import GRACE_MS, SPENDING_DAYS
from router_service.store.sqlite import rows
from router_service.store.sqlite.reports import remove

Step = Callable[[sqlite3.Connection, Sequence[tuple[int, int]]], list[int]]
"""For each (now, limit): removes at most `limit`, and says how many; fewer than asked is the last."""


def _each(step: Callable[[sqlite3.Connection, int, int], int]) -> Step:
    def run(db: sqlite3.Connection, asked: Sequence[tuple[int, int]]) -> list[int]:
        return [step(db, now, limit) for now, limit in asked]

    return run


def _traces(db: sqlite3.Connection, now: int, limit: int) -> int:
    over = rows.select(
        db, "trace_id", "(SELECT trace_id FROM trace WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)", now, limit
    )
    if over:
        remove(db, (row[0] for row in over))
    return len(over)


def oldest(db: sqlite3.Connection, _: None) -> int | None:
    """When the first of all traces expires."""
    found: int | None = db.execute("SELECT min(expires_at) FROM trace").fetchone()[0]
    return found


def _orphans(db: sqlite3.Connection, now: int, limit: int) -> int:
    """Reports whose traces were never written."""
    return db.execute(
        "DELETE FROM report WHERE id IN "
        "(SELECT id FROM report WHERE orphan_until IS NOT NULL AND orphan_until <= ? LIMIT ?)",
        (now, limit),
    ).rowcount


def _ledger(db: sqlite3.Connection, now: int, limit: int) -> int:
    """What was known of attempts and reservations, but for traces that are still there."""
    over = rows.select(
        db,
        "ledger.trace_id, trace.expires_at",
        "(SELECT trace_id FROM ledger WHERE forget_at <= ? AND state IS NOT 'open' ORDER BY forget_at LIMIT ?) "
        "AS ledger LEFT JOIN trace ON trace.trace_id = ledger.trace_id",
        *(now, limit),
    )
    gone = rows.keys(trace_id for trace_id, expires_at in over if expires_at is None)
    stay = rows.keys([trace_id, max(expires_at, now + 1)] for trace_id, expires_at in over if expires_at is not None)
    db.execute("DELETE FROM ledger WHERE trace_id IN (SELECT value FROM json_each(?))", (gone,))
    db.execute(
        "UPDATE ledger SET forget_at = json_extract(stay.value, '$[1]') FROM json_each(?) AS stay "
        "WHERE trace_id = json_extract(stay.value, '$[0]')",
        (stay,),
    )
    return len(over)


def _spent(db: sqlite3.Connection, now: int, limit: int) -> int:
    try:
        today = dt.datetime.fromtimestamp(now / 1000, dt.UTC).date()
        last = (today - dt.timedelta(days=SPENDING_DAYS)).isoformat()
    except (ValueError, OverflowError, OSError):
        return 0  # a clock beyond all calendars
    return db.execute(
        "DELETE FROM spent WHERE (policy_id, day) IN (SELECT policy_id, day FROM spent WHERE day < ? LIMIT ?)",
        (last, limit),
    ).rowcount


traces: Step = _each(_traces)
forgotten: tuple[Step, ...] = (_each(_orphans), _each(_ledger), _each(_spent))


# New versions that get their time to wait in one step. So many that they cannot come faster, and a sweep ends.
FRESH_STEP = 64


def kept(db: sqlite3.Connection, asked: Sequence[tuple[int, str, int]]) -> list[tuple[bool, int, int]]:
    """For each (now, keep, limit): removes at most `limit` of the bodies kept by version that nothing needs.

    Says whether there may be more, how many versions were found, and how many bodies went: some have none.
    """
    return [_kept(db, now, keep, limit) for now, keep, limit in asked]


def _kept(db: sqlite3.Connection, now: int, keep: str, limit: int) -> tuple[bool, int, int]:
    grace = now + GRACE_MS
    fresh = db.execute(
        "UPDATE catalog_need SET needed_until = max(needed_until, ?), fresh = 0 "
        "WHERE version IN (SELECT version FROM catalog_need WHERE fresh LIMIT ?)",
        (grace, FRESH_STEP),
    ).rowcount
    if fresh == FRESH_STEP:
        return True, 0, 0  # some may be left, whose traces are still to come
    db.execute("UPDATE catalog_need SET needed_until = ? WHERE version = ? AND needed_until < ?", (grace, keep, grace))
    over = rows.select(
        db,
        "version",
        "(SELECT version FROM catalog_need WHERE needed_until <= ? ORDER BY needed_until LIMIT ?)",
        now,
        limit,
    )
    if not over:
        return False, 0, 0
    versions = (rows.keys(row[0] for row in over),)
    db.execute("DELETE FROM catalog_need WHERE version IN (SELECT value FROM json_each(?))", versions)
    gone = db.execute("DELETE FROM catalog WHERE version IN (SELECT value FROM json_each(?))", versions).rowcount
    return len(over) == limit, len(over), gone
