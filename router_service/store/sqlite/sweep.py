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


def catalogs(db: sqlite3.Connection, asked: Sequence[tuple[int, str]]) -> list[int]:
    """For each (now, keep): removes the versions of the catalogue that nothing needs, and says how many."""
    return [_catalogs(db, now, keep) for now, keep in asked]


def _catalogs(db: sqlite3.Connection, now: int, keep: str) -> int:
    db.execute(
        "UPDATE catalog_need SET needed_until = max(needed_until, ?), fresh = 0 WHERE fresh OR version = ?",
        (now + GRACE_MS, keep),
    )
    unneeded = "SELECT version FROM catalog_need WHERE needed_until <= ? AND version != ?"
    removed = db.execute(
        f"DELETE FROM catalog WHERE version IN ({unneeded})",  # noqa: S608 - constants
        (now, keep),
    ).rowcount
    db.execute("DELETE FROM catalog_need WHERE needed_until <= ? AND version != ?", (now, keep))
    return removed
