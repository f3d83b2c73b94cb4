"""One thread's connection to the file: opened when it is needed, and anew after anything went wrong with it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from pathlib import Path
from urllib.parse import quote

from router_service.store.interface import StoreLost
from router_service.store.sqlite import schema

# How long one statement waits for another process; a call goes on waiting until its own time is over.
BUSY_S = 0.25

PRAGMAS = (
    "synchronous = NORMAL",  # a commit is in the file when the process dies, not when the power does
    "wal_autocheckpoint = 0",  # checkpoint.py does it, off the path
    "journal_size_limit = 134217728",
    "cache_size = -16000",
    "temp_store = MEMORY",
)

# What SQLite's codes mean to whoever runs the service; a longer code is matched by its beginning.
REASONS = {
    "SQLITE_BUSY": "the file is locked by another process",
    "SQLITE_LOCKED": "the file is locked by another process",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "the file or its folder is read-only for this user",
    "SQLITE_PERM": "the file or its folder is read-only for this user",
    "SQLITE_CANTOPEN": "the file cannot be opened: see that its folder exists and this user may write there",
    "SQLITE_CORRUPT": "the file is damaged: put a backup in its place",
    "SQLITE_NOTADB": "the file is damaged, or no SQLite database: put a backup in its place",
    "SQLITE_IOERR": "the disk fails, or a limit on the file's size is reached",
}


def reason(error: BaseException) -> str:
    """Why the store is lost, in words."""
    if isinstance(error, StoreLost):
        return str(error)
    name = getattr(error, "sqlite_errorname", "")
    for code, words in REASONS.items():
        if name.startswith(code):
            return f"{words} ({name})"
    return f"{error}" + (f" ({name})" if name else "")


def is_busy(error: sqlite3.Error) -> bool:
    """Whether waiting may cure it."""
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


Identity = tuple[int, int]


class Place:
    """The file of a store, which each thread connects to by a session of its own.

    Once it has been there, it is not made again: that would forget what is spent. Another file may take its name (a
    backup). SQLite would take the old file's log, which still lies beside it, for the log of the new one, and damage
    it; so the log is known again, by holding it open, and removed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file: Identity | None = None
        self._log: int | None = None

    def identity(self, ending: str = "") -> Identity | None:
        """What tells this file from another under its name; None where there is none."""
        with contextlib.suppress(OSError):
            return _identity(Path(f"{self.path}{ending}").stat())
        return None

    def connect(self) -> tuple[sqlite3.Connection, Identity]:
        """A new connection, with the file in its newest form, and which file it is to."""
        with self._lock:
            if not self.path.parent.is_dir():
                raise StoreLost(f"the folder {self.path.parent} does not exist: make it, writable for this user")
            before = self.identity()
            if self._file is not None:
                if before is None:
                    raise StoreLost("the file was deleted: put a backup in its place, or an empty file to begin anew")
                if before != self._file:
                    self._remove_old_log()
            # SQLite would read all the same, and leave a read-only index behind that outlives the cure.
            for one in (self.path.parent, self.path):
                if one.exists() and not os.access(one, os.W_OK, effective_ids=True):
                    raise StoreLost(f"{one} is read-only for this user")
            db = _connect(self.path, mode="rwc" if self._file is None else "rw")
            self._file = self.identity()
            if self._file is None or before not in (None, self._file):
                db.close()
                raise StoreLost("the file was replaced just now")
            self._hold_log()
            return db, self._file

    def close(self) -> None:
        """Lets go of the log."""
        with self._lock:
            self._release_log()

    def _remove_old_log(self) -> None:
        if self._log is not None and self.identity("-wal") == _identity(os.fstat(self._log)):
            for ending in ("-wal", "-shm"):
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
        self._release_log()

    def _hold_log(self) -> None:
        """Only the log may be held: closing one of the other files would let go of SQLite's locks on it."""
        if self._log is not None and self.identity("-wal") != _identity(os.fstat(self._log)):
            self._release_log()
        if self._log is None:
            with contextlib.suppress(OSError):
                self._log = os.open(f"{self.path}-wal", os.O_RDONLY | os.O_CLOEXEC)

    def _release_log(self) -> None:
        log, self._log = self._log, None
        if log is not None:
            os.close(log)


def _identity(state: os.stat_result) -> Identity:
    return state.st_dev, state.st_ino


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    db = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=BUSY_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        if db.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise StoreLost("SQLite cannot keep a write-ahead log here: choose a local disk")
        for pragma in PRAGMAS:
            db.execute(f"PRAGMA {pragma}")
        schema.prepare(db)
    except BaseException:
        db.close()
        raise
    return db


class Session:
    """A connection that is opened when it is needed."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._db: sqlite3.Connection | None = None
        self._file: Identity | None = None

    def use(self) -> sqlite3.Connection:
        """The connection, to the file that now has the name. StoreLost or sqlite3.Error where there is none."""
        if self._db is not None and self._place.identity() != self._file:
            self.drop()
        if self._db is None:
            self._db, self._file = self._place.connect()
        return self._db

    def interrupt(self) -> None:
        """Stops what the connection is doing, from any thread."""
        if (db := self._db) is not None:
            with contextlib.suppress(sqlite3.ProgrammingError):
                db.interrupt()

    def drop(self) -> None:
        """Closes the connection; the next use opens another."""
        db, self._db = self._db, None
        if db is not None:
            with contextlib.suppress(sqlite3.Error):
                db.close()
