"""A file that an older version of the service made works on, with all that it holds."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import msgspec
import pytest

from router_service.store.interface import GRACE_MS, Spending, State, StoredTrace, Swept, TraceQuery
from router_service.store.sqlite import schema
from tests.store.lost import is_well, opened
from tests.store.values import DAY, MINUTE, NOW, attempt, report, reservation, taken, trace

OLD = trace("t1", expires_at=NOW + 5 * GRACE_MS)
OLD_REPORT = report("t1", attempt("a1", 30))


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A file of the first form as the first version wrote it: a reservation, a reported trace, a catalogue."""
    path = tmp_path / "router.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        db.execute("CREATE TABLE migration (version INTEGER NOT NULL PRIMARY KEY, applied_at INTEGER NOT NULL)")
        db.execute("INSERT INTO migration VALUES (1, ?)", (NOW,))
        db.executescript(schema.MIGRATIONS[0])
        db.execute("INSERT INTO spent VALUES ('p', ?, '30', '100')", (DAY,))
        db.execute(
            "INSERT INTO ledger VALUES ('t0', 'p', ?, '100', 'open', '0', '100', ?, '[]', '[]', 0, ?)",
            (DAY, NOW + 15 * MINUTE, 2 * NOW),
        )
        known = ('["a1"]', '["accepted"]', 2 * NOW)
        db.execute("INSERT INTO ledger VALUES ('t1', 'p', NULL, NULL, NULL, NULL, NULL, NULL, ?, ?, 0, ?)", known)
        db.execute(
            "INSERT INTO trace VALUES (1, 't1', ?, ?, 'p', 'decided', 'v1', '[\"e/one\",\"e/two\"]', 0, ?, ?, ?)",
            (OLD.at, OLD.expires_at, OLD.context, OLD.request, OLD.answer),
        )
        db.executemany("INSERT INTO candidate VALUES (?, ?, 1)", [(one, OLD.at) for one in OLD.endpoints])
        body = msgspec.msgpack.encode([("a1", "e/one", "30", OLD_REPORT.attempts[0].body)])
        db.execute("INSERT INTO report VALUES (1, 't1', ?, 'p', 'accepted', ?, NULL)", (OLD_REPORT.at, body))
        db.execute("INSERT INTO catalog VALUES ('v1', x'01')")
        db.execute("INSERT INTO catalog_need VALUES ('v1', ?, 0)", (OLD.expires_at,))
        db.execute("INSERT INTO catalog VALUES ('v0', x'00')")
        db.execute("INSERT INTO catalog_need VALUES ('v0', 0, 1)")
        db.commit()
    return path


async def test_a_file_of_the_first_form_works_on(first: Path) -> None:
    async with opened(first) as store:
        assert await store.trace("t1") == StoredTrace(OLD, (OLD_REPORT,))
        assert (await store.traces(TraceQuery(endpoint_id="e/two"), "", 10)).traces == (OLD,)
        assert await store.spending("p", DAY) == Spending(30, 100)
        assert (await store.reserve(reservation("t0", 100))).made
        assert await store.report(report("t1", attempt("a1"), attempt("a2"))) == taken("a2", duplicates=1)
        told = report("t1", attempt("a3"), operation_id="op", caller="gateway")
        await store.report(told)
        found = await store.trace("t1")
        assert found is not None
        assert [(one.operation_id, one.caller) for one in found.reports] == [("", ""), ("", ""), ("op", "gateway")]
        [made] = await store.swap([State("e/one", 0, b"up")])
        assert await store.states(0) == (made.state,)
        await store.write_traces([trace("t2", figures="f1")])
        assert (await store.trace("t2")) == StoredTrace(trace("t2", figures="f1"))
        # What no sweep had seen yet gets its time from the next one.
        assert await store.sweep(NOW, "v9", 100) == Swept(0, 0, more=False)
        assert await store.sweep(NOW + GRACE_MS, "v9", 100) == Swept(1, 1, more=False)
        assert [await store.catalog(one) for one in ("v0", "v1")] == [None, b"\x01"]
        assert await store.sweep(OLD.expires_at, "v9", 100) == Swept(1, 1, more=False)
        assert await store.catalog("v1") is None


async def test_several_who_open_it_at_once_bring_it_up_to_date_once(first: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        stores = await asyncio.gather(*(stack.enter_async_context(opened(first)) for _ in range(4)))
        for number, store in enumerate(stores):
            await is_well(store, f"new{number}")
    with contextlib.closing(sqlite3.connect(first)) as db:
        forms = [row[0] for row in db.execute("SELECT version FROM migration")]
    assert forms == list(range(1, len(schema.MIGRATIONS) + 1))
