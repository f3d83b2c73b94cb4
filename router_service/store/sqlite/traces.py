"""Traces: written in batches, had again by their id."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from router_service.store.interface import Report, StoredTrace, Trace
from router_service.store.needs import needed_until
from router_service.store.packed import unpack_attempts
from router_service.store.sqlite import rows
from router_service.store.sqlite.reports import remove

COLUMNS = (
    "trace_id, at, expires_at, policy_id, outcome, catalog_version, figures, endpoints, until_report, "
    "context, request, answer"
)

_REPORT = ", ".join(f"report.{name}" for name in "at policy_id outcome attempts operation_id caller".split())

Row = tuple[str, int, int, str, str, str, str, str, int, bytes, bytes, bytes]


def write(db: sqlite3.Connection, batches: Sequence[Sequence[Trace]]) -> list[None]:
    """Writes all traces of all batches; one that is there stays as it is."""
    traces = [trace for batch in batches for trace in batch]
    over = _reported_before(db, traces)
    last = db.execute("SELECT coalesce(max(id), 0) FROM trace").fetchone()[0]
    rows.insert(
        db,
        f"INSERT OR IGNORE INTO trace ({COLUMNS})",
        [_row(trace) for trace in traces if trace.trace_id not in over],
    )
    # What was ignored has no id after the last one of before.
    db.execute(
        "INSERT OR IGNORE INTO candidate (endpoint_id, at, id) "
        "SELECT one.value, trace.at, trace.id FROM trace, json_each(trace.endpoints) AS one WHERE trace.id > ?",
        (last,),
    )
    ids = rows.keys(trace.trace_id for trace in traces)
    db.execute(
        "UPDATE report SET orphan_until = NULL "
        "WHERE orphan_until IS NOT NULL AND trace_id IN (SELECT value FROM json_each(?))",
        (ids,),
    )
    _need_kept(db, traces)
    return [None] * len(batches)


def _reported_before(db: sqlite3.Connection, traces: Sequence[Trace]) -> set[str]:
    """Those kept no longer than till a report that has come already. What it reported goes too."""
    short = [trace.trace_id for trace in traces if trace.until_report]
    if not short:
        return set()
    found = rows.select(
        db,
        "trace_id",
        "json_each(?) AS asked CROSS JOIN ledger ON trace_id = asked.value WHERE outcomes != '[]'",
        rows.keys(short),
    )
    over = {row[0] for row in found}
    if over:
        remove(db, over)
        db.execute(
            "UPDATE ledger SET traceless = 1 WHERE trace_id IN (SELECT value FROM json_each(?))", (rows.keys(over),)
        )
    return over


def _need_kept(db: sqlite3.Connection, traces: Sequence[Trace]) -> None:
    # One statement whatever the number of versions; nearly always it is one or two.
    db.execute(
        "INSERT INTO catalog_need (version, needed_until, fresh) "
        "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), 0 FROM json_each(?) WHERE true "
        "ON CONFLICT DO UPDATE SET needed_until = max(needed_until, excluded.needed_until)",
        (rows.keys(needed_until(traces).items()),),
    )


def _row(trace: Trace) -> Row:
    return (
        *(trace.trace_id, trace.at, trace.expires_at, trace.policy_id, trace.outcome, trace.catalog_version),
        trace.figures,
        *(rows.keys(trace.endpoints), int(trace.until_report), trace.context, trace.request, trace.answer),
    )


def of_row(row: Row) -> Trace:
    """The trace of a row of COLUMNS."""
    trace_id, at, expires_at, policy, outcome, version, figures, endpoints, until_report, *bodies = row
    context, request, answer = bodies
    return Trace(
        trace_id=trace_id,
        at=at,
        expires_at=expires_at,
        policy_id=policy,
        outcome=outcome,
        catalog_version=version,
        endpoints=tuple(msgspec.json.decode(endpoints)),
        request=request,
        answer=answer,
        context=context,
        until_report=bool(until_report),
        figures=figures,
    )


def read(db: sqlite3.Connection, trace_id: str) -> StoredTrace | None:
    """One trace and its reports, as they were at one instant: one statement sees one state."""
    names = ", ".join(f"trace.{name}" for name in COLUMNS.split(", "))
    found = db.execute(
        f"SELECT {names}, {_REPORT} "  # noqa: S608 - constants
        "FROM trace LEFT JOIN report ON report.trace_id = trace.trace_id WHERE trace.trace_id = ? ORDER BY report.id",
        (trace_id,),
    ).fetchall()
    if not found:
        return None
    reports = (
        Report(
            trace_id=trace_id,
            at=at,
            policy_id=policy,
            outcome=outcome,
            attempts=unpack_attempts(attempts),
            operation_id=operation_id,
            caller=caller,
        )
        for *_, at, policy, outcome, attempts, operation_id, caller in found
        if attempts is not None
    )
    return StoredTrace(of_row(found[0][:-6]), tuple(reports))
