"""Versions of the catalogue, each kept as long as a trace may need it (sweep.py removes them)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence


def keep(db: sqlite3.Connection, asked: Sequence[tuple[str, bytes]]) -> list[None]:
    """Keeps each (version, body). How long it is needed stands in a small table, so that the body is written once."""
    for version, body in asked:
        db.execute("INSERT INTO catalog (version, body) VALUES (?, ?) ON CONFLICT DO NOTHING", (version, body))
        db.execute(
            "INSERT INTO catalog_need (version, needed_until, fresh) VALUES (?, 0, 1) "
            "ON CONFLICT DO UPDATE SET fresh = 1",
            (version,),
        )
    return [None] * len(asked)


def read(db: sqlite3.Connection, version: str) -> bytes | None:
    """A kept version."""
    found = db.execute("SELECT body FROM catalog WHERE version = ?", (version,)).fetchone()
    return bytes(found[0]) if found else None
