"""Many rows in one step of one statement.

Every step lets go of the interpreter's lock, and a busy event loop gives it back only after some milliseconds
(sys.getswitchinterval): ten rows written one by one would take the time of a thousand written at once. So rows go in
by one statement, keys as one JSON text, and what is read comes back as one JSON text.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

# Few sizes, so that few statements are compiled, each once.
_SIZES = (64, 8, 1)


def pieces(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """`items` in pieces of the sizes above."""
    at = 0
    for size in _SIZES:
        while len(items) - at >= size:
            yield items[at : at + size]
            at += size


@functools.lru_cache
def _places(rows: int, columns: int) -> str:
    return ",".join(["(" + ",".join("?" * columns) + ")"] * rows)


def insert(db: sqlite3.Connection, head: str, rows: Sequence[tuple[Any, ...]], tail: str = "") -> None:
    """Runs `head` VALUES (...), (...) `tail` with all rows."""
    for piece in pieces(rows):
        values = [value for row in piece for value in row]
        db.execute(f"{head} VALUES {_places(len(piece), len(piece[0]))} {tail}", values)


def select(db: sqlite3.Connection, columns: str, rest: str, *parameters: object) -> list[list[Any]]:
    """The rows of SELECT `columns` FROM `rest`, in no order; no column may be a blob."""
    # The callers' texts are constants, and what comes from outside is a parameter.
    found = db.execute(f"SELECT json_group_array(json_array({columns})) FROM {rest}", parameters).fetchone()  # noqa: S608
    rows: list[list[Any]] = msgspec.json.decode(found[0])
    return rows


def keys(values: Iterable[object]) -> str:
    """A parameter for `json_each(?)`: the values, each a row of its own in `value`."""
    return msgspec.json.encode(list(values)).decode()
