"""Health states: written where nobody else was quicker, found by the version of their last change."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from router_service.store.interface import State, Swapped
from router_service.store.sqlite import rows
from router_service.store.states import least_version


def swap(db: sqlite3.Connection, asked: Sequence[Sequence[State]]) -> list[list[Swapped]]:
    """Makes the changes of each call whose version is the kept one, in the order of coming."""
    now = {
        state.key: state
        for state in _select(
            db,
            "json_each(?) AS asked CROSS JOIN state ON state.key = asked.value",
            rows.keys({one.key for changes in asked for one in changes}),
        )
    }
    last: int = db.execute("SELECT coalesce(max(version), 0) FROM state").fetchone()[0]
    version = max(last, least_version() - 1)
    written: dict[str, State] = {}
    answers: list[list[Swapped]] = []
    for changes in asked:
        answers.append([])
        for one in changes:
            state = now.get(one.key) or State(one.key, 0, b"")
            made = state.version == one.version
            if made:
                version += 1
                state = now[one.key] = written[one.key] = State(one.key, version, one.body)
            answers[-1].append(Swapped(made, state))
    rows.insert(
        db,
        "INSERT INTO state (key, version, body)",
        [(one.key, one.version, one.body) for one in written.values()],
        "ON CONFLICT (key) DO UPDATE SET version = excluded.version, body = excluded.body",
    )
    return answers


def since(db: sqlite3.Connection, asked: tuple[int, int]) -> list[State]:
    """For (since, limit): the first states of a greater version."""
    found = _select(db, "(SELECT * FROM state WHERE version > ? ORDER BY version LIMIT ?) AS state", *asked)
    return sorted(found, key=lambda one: one.version)


def _select(db: sqlite3.Connection, rest: str, *parameters: object) -> list[State]:
    return [
        State(key, version, bytes.fromhex(body))
        for key, version, body in rows.select(db, "state.key, version, hex(body)", rest, *parameters)
    ]
