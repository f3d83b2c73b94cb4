"""Pages of traces, newest first.

A page begins where the one before ended, by (at, id), so traces that come in between move nothing. A cursor names that
place by a trace that was on the page: the row's own number would tell how many traces others have.
"""

from __future__ import annotations

import base64
import re
import sqlite3

from router_service.store.interface import Trace, TracePage, TraceQuery
from router_service.store.sqlite import rows
from router_service.store.sqlite.traces import of_row

_CURSOR = re.compile(r"s(-?\d{1,18})\.([\w=-]+)", re.ASCII)

_LAST = 2**63 - 1
_ANY = "IN (SELECT value FROM json_each(?))"

# So many policies are walked each along its own index; with more, one walk along all traces finds enough soon.
_MERGED_MAX = 100

_PAGE = (
    "trace_id, trace.at, expires_at, policy_id, outcome, catalog_version, figures, endpoints, until_report, "
    "hex(context), hex(request), hex(answer), trace.id"
)


def position(cursor: str) -> tuple[int, str] | None:
    """Where the page before ended; ValueError for a cursor that was not made here."""
    if not cursor:
        return None
    found = _CURSOR.fullmatch(cursor)
    try:
        if found is not None:
            return int(found[1]), base64.urlsafe_b64decode(found[2]).decode()
    except ValueError:
        pass  # no text in base 64
    raise ValueError(f"{cursor!r} is no cursor of this store: take next_cursor of the page before")


def _cursor(last: Trace) -> str:
    return f"s{last.at}.{base64.urlsafe_b64encode(last.trace_id.encode()).decode()}"


def page(db: sqlite3.Connection, asked: tuple[TraceQuery, tuple[int, str] | None, int]) -> TracePage:
    """The page after a position, of at most `limit` traces."""
    query, after, limit = asked
    ids, parameters = _ids(query, after, limit + 1)
    found = rows.select(db, _PAGE, f"({ids}) AS page JOIN trace ON trace.id = page.id", *parameters)
    found.sort(key=lambda row: (row[1], row[-1]), reverse=True)
    traces = tuple(of_row((*row[:9], *map(bytes.fromhex, row[9:12]))) for row in found[:limit])
    more = len(found) > limit
    return TracePage(traces, _cursor(traces[-1]) if more else "")


def _ids(query: TraceQuery, after: tuple[int, str] | None, limit: int) -> tuple[str, list[object]]:
    """A statement that finds the ids of the page. It walks one index backwards, and stops at the limit."""
    policies = query.policies
    if query.policy_id:
        policies = (query.policy_id,) if policies is None or query.policy_id in policies else ()
    key = "candidate" if query.endpoint_id else "trace"
    conditions: list[tuple[str, list[object]]] = []
    if query.endpoint_id:
        conditions.append(("endpoint_id = ?", [query.endpoint_id]))
    if query.outcome:
        conditions.append(("outcome = ?", [query.outcome]))
    if query.since is not None:
        conditions.append((f"{key}.at >= ?", [query.since]))
    if query.until is not None:
        conditions.append((f"{key}.at < ?", [query.until]))
    if after is not None:
        at, trace_id = after
        # Where that trace has gone meanwhile, those of its instant may come twice; none is left out. One of another's
        # policy is as good as gone, so that no cursor tells whether there is such a trace.
        mine, of = ("", []) if policies is None else (f" AND one.policy_id {_ANY}", [rows.keys(policies)])
        ended = f"coalesce((SELECT id FROM trace AS one WHERE one.trace_id = ? AND one.at = ?{mine}), ?)"  # noqa: S608 - constants
        conditions.append((f"({key}.at, {key}.id) < (?, {ended})", [at, trace_id, at, *of, _LAST]))
    if policies is None:
        return _walk(key, conditions, limit)
    if query.endpoint_id or len(policies) > _MERGED_MAX:
        # The sign keeps SQLite from an index of policies, whose rows it would have to sort.
        conditions.append((f"+policy_id {_ANY}", [rows.keys(policies)]))
        return _walk(key, conditions, limit)
    return _merged([_walk(key, [*conditions, ("policy_id = ?", [policy])], limit) for policy in set(policies)], limit)


def _walk(key: str, conditions: list[tuple[str, list[object]]], limit: int) -> tuple[str, list[object]]:
    """Along the index of one table; CROSS JOIN keeps SQLite to this order of the tables."""
    source = "trace" if key == "trace" else "candidate CROSS JOIN trace ON trace.id = candidate.id"
    where = " AND ".join(text for text, _ in conditions) or "true"
    return (
        f"SELECT {key}.id, {key}.at FROM {source} WHERE {where} ORDER BY {key}.at DESC, {key}.id DESC LIMIT ?",  # noqa: S608 - constants
        [*(value for _, values in conditions for value in values), limit],
    )


def _merged(walks: list[tuple[str, list[object]]], limit: int) -> tuple[str, list[object]]:
    """The newest of several walks, each of which has found its newest."""
    none = "SELECT 0 AS id, 0 AS at WHERE false"
    every = " UNION ALL ".join(f"SELECT * FROM ({text})" for text, _ in walks) or none  # noqa: S608 - constants
    parameters = [value for _, values in walks for value in values]
    return f"SELECT id FROM ({every}) ORDER BY at DESC, id DESC LIMIT ?", [*parameters, limit]  # noqa: S608 - constants
