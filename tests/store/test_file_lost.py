"""The file of a SQLite store missing, deleted, damaged, full, read-only, another's: lost with its reason, and found."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from router_service.store.interface import Spending, StoreLost, Timeouts
from router_service.store.sqlite import SqliteStore, connection, schema
from router_service.store.sqlite.batches import Writer
from tests.store.lost import PATIENT, back_up, damage, delete, is_well, lost, names, opened, put, size
from tests.store.values import DAY, attempt, report, reservation, trace


@pytest.fixture
def path() -> Iterator[Path]:
    """In a folder that another user may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder / "router.db"
    shutil.rmtree(folder)


async def test_a_missing_folder(path: Path) -> None:
    inner = path.parent / "inner" / "router.db"
    store = SqliteStore(inner, PATIENT)
    with lost("folder .*inner does not exist"):
        await store.open()
    with lost("folder .*inner does not exist"):
        await store.reserve(reservation())
    inner.parent.mkdir()
    await is_well(store, "t1")
    await store.close()


async def test_a_file_deleted_is_not_made_anew_by_itself(path: Path) -> None:
    async with opened(path) as store:
        await is_well(store, "t1")
        back_up(path, path.with_name("backup.db"))
        delete(path)
        # Not even what was begun before: budgets would begin anew in silence.
        for _ in range(3):
            with lost("deleted", "put a backup in its place"):
                await store.reserve(reservation("t2", 1))
            with lost("deleted"):
                await store.spending("p", DAY)
        assert names(path.parent) == {"backup.db"}
        path.with_name("backup.db").rename(path)
        assert await store.spending("p", DAY) == Spending(2, 0)
        await is_well(store, "t3")
        delete(path)
        with lost("deleted"):
            await store.report(report("t3", attempt("a2")))
        put(path, b"")
        await is_well(store, "t4")
        assert await store.spending("p", DAY) == Spending(2, 0)


async def test_a_folder_deleted_and_made_again(path: Path) -> None:
    async with opened(path) as store:
        await is_well(store, "t1")
        shutil.rmtree(path.parent)
        with lost("folder", "does not exist"):
            await store.reserve(reservation("t2", 1))
        path.parent.mkdir()
        with lost("deleted"):
            await store.reserve(reservation("t2", 1))
        put(path, b"")
        await is_well(store, "t3")


async def test_a_damaged_file_and_its_backup(path: Path) -> None:
    async with opened(path) as store:
        await is_well(store, "t1")
        good = path.with_name("good.db")
        back_up(path, good)
        put(path, os.urandom(100_000))
        for _ in range(3):
            with lost("damaged", "put a backup in its place"):
                await store.reserve(reservation("t2", 1))
            with lost("damaged"):
                await store.trace("t1")
        good.rename(path)
        await is_well(store, "t3")
        assert await store.spending("p", DAY) == Spending(4, 0)


async def test_a_file_damaged_in_its_middle_is_told(path: Path) -> None:
    async with opened(path) as store:
        await store.write_traces([trace(f"t{n}", request=os.urandom(3000)) for n in range(500)])
    good = damage(path)
    async with opened(path) as store:
        with lost("damaged"):
            for n in range(500):
                await store.trace(f"t{n}")
        put(path, good)
        await is_well(store, "more")
        assert await store.trace("t499") is not None


async def test_another_programs_database_is_left_alone(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE trace (theirs)")
    store = SqliteStore(path, PATIENT)
    with lost("another program's database"):
        await store.open()
    delete(path)
    await is_well(store, "t1")
    await store.close()


async def test_a_file_of_a_newer_version_is_left_alone(path: Path) -> None:
    async with opened(path):
        pass
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("INSERT INTO migration VALUES (?, 0)", (len(schema.MIGRATIONS) + 1,))
        other.commit()
    store = SqliteStore(path, PATIENT)
    with lost("run the newer version"):
        await store.open()
    await store.close()


async def test_an_older_file_is_brought_up_to_date_in_one_step(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(path) as store:
        await is_well(store, "t1")
    more = "CREATE TABLE more (one TEXT); CREATE INDEX more_one ON more (one);"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, more + "CREATE TABLE more (again TEXT);"))
    store = SqliteStore(path, PATIENT)
    with lost("already exists"):
        await store.open()
    await store.close()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS[:-1], more))
    stores = [SqliteStore(path, Timeouts()) for _ in range(4)]
    await asyncio.gather(*(store.open() for store in stores))
    await is_well(stores[0], "t2")
    for store in stores:
        await store.close()
    with contextlib.closing(sqlite3.connect(path)) as other:
        forms = [(number,) for number, _ in enumerate(schema.MIGRATIONS, 1)]
        assert other.execute("SELECT version FROM migration ORDER BY version").fetchall() == forms


@contextlib.contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """What a full disk does: writes past the limit fail."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_disk_that_takes_no_more(path: Path) -> None:
    async with opened(path) as store:
        await is_well(store, "t1")
        log = size(path.with_name("router.db-wal"))
        with file_size_limit(log + 8192):
            with lost("disk"):
                await store.write_traces([trace("big", request=os.urandom(100_000))])
            with lost("disk"):
                for n in range(100):
                    await store.reserve(reservation(f"more{n}", 0))
        made = (await store.spending("p", DAY)).settled
        await is_well(store, "t2")
        assert await store.spending("p", DAY) == Spending(made + 2, 0)
        assert await store.trace("big") is None


def _drop(store: SqliteStore) -> None:
    """What makes SQLite forget the limit."""
    writer = store._workers["write"]._serve
    assert isinstance(writer, Writer)
    writer._session.drop()


async def test_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PRAGMAS", (*connection.PRAGMAS, "max_page_count = 60"))
    async with opened(path) as store:
        await is_well(store, "t1")
        with lost("the disk is full"):
            for n in range(100):
                await store.write_traces([trace(f"big{n}", request=os.urandom(10_000))])
        # What is small may fit yet, even together with what does not.
        both = await asyncio.gather(
            store.write_traces([trace("huge", request=os.urandom(1_000_000))]),
            store.spending("p", DAY),
            return_exceptions=True,
        )
        assert isinstance(both[0], StoreLost)
        monkeypatch.setattr(connection, "PRAGMAS", connection.PRAGMAS[:-1])
        _drop(store)
        await is_well(store, "t2")


@contextlib.contextmanager
def unprivileged() -> Iterator[None]:
    """As a user whom a read-only file stops; root is stopped by none."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_a_read_only_file_or_folder(path: Path) -> None:
    async with opened(path) as store:
        await is_well(store, "t1")
    if os.geteuid() == 0:
        os.chown(path.parent, 65534, 65534)
        os.chown(path, 65534, 65534)
    for target, closed, free in ((path, 0o444, 0o644), (path.parent, 0o555, 0o755)):
        with unprivileged():
            target.chmod(closed)
            store = SqliteStore(path, PATIENT)
            with lost("read-only|cannot be opened"):
                await store.open()
            with lost("read-only|cannot be opened"):
                await store.reserve(reservation("t2", 1))
            target.chmod(free)
            await is_well(store, target.name)
            await store.close()
