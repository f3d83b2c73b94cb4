"""What tests of lost stores share: a file to lose, files as somebody else handles them, and whether a store is well."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from router_service.store.interface import Spending, Store, StoreLost, Timeouts
from router_service.store.sqlite import SqliteStore
from tests.store.values import DAY, attempt, report, reservation, trace

# A machine that runs tests may be slow, so only what should be lost in time is given little of it.
QUICK = Timeouts(money=0.5, other=0.5)
PATIENT = Timeouts(money=30, other=30)


@contextlib.asynccontextmanager
async def opened(path: Path, timeouts: Timeouts = PATIENT) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, timeouts)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def lost(*words: str, store: str = "sqlite /") -> pytest.RaisesExc[StoreLost]:
    """That a call is lost, and says of which store and why."""
    return pytest.raises(StoreLost, match=f"(?s){re.escape(store)}.*" + ".*".join(words))


async def is_well(store: Store, trace_id: str) -> None:
    """That everything goes; it spends 2."""
    before = await store.spending("p", DAY)
    assert (await store.reserve(reservation(trace_id, 1))).made
    await store.report(report(trace_id, attempt(cost=2)))
    await store.write_traces([trace(trace_id)])
    assert await store.trace(trace_id) is not None
    assert await store.spending("p", DAY) == Spending(before.settled + 2, before.reserved)


def back_up(path: Path, to: Path) -> None:
    """A copy made while the store is in use, as docs/stores.md says."""
    with contextlib.closing(sqlite3.connect(path)) as source, contextlib.closing(sqlite3.connect(to)) as copy:
        source.backup(copy)


def put(path: Path, content: bytes) -> None:
    """Another file under the name."""
    other = path.with_name("other")
    other.write_bytes(content)
    other.rename(path)


def damage(path: Path) -> bytes:
    """Overwrites all but the first pages; what was there."""
    good = path.read_bytes()
    path.write_bytes(good[:16384] + os.urandom(len(good) - 16384))
    return good


def delete(path: Path) -> None:
    """With all that lies beside it."""
    for one in path.parent.glob(f"{path.name}*"):
        one.unlink()


def names(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()}


def size(path: Path) -> int:
    return path.stat().st_size
