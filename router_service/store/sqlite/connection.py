"""One thread's connection to the file: opened when it is needed, and anew after anything went wrong with it."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from urllib.parse import quote

from router_service.store.interface import StoreLost
from router_service.store.sqlite import schema

# How long one statement waits for another process; a call goes on waiting until its own time is over.
BUSY_S = 0.25

PRAGMAS = (
    "synchronous = NORMAL",  # a commit is in the file when the process dies, not when the power does
    "wal_autocheckpoint = 0",  # checkpoint.py does it, off the path
    "journal_size_limit = 67108864",
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
    """The file of a store. Once it has been there, it is not made again: that would forget what is spent."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen = False

    def identity(self, ending: str = "") -> Identity | None:
        """What tells this file from another under its name; None where there is none."""
        with contextlib.suppress(OSError):
            state = Path(f"{self.path}{ending}").stat()
            return state.st_dev, state.st_ino
        return None

    def connect(self) -> sqlite3.Connection:
        """A new connection, with the file in its newest form."""
        if not self.path.parent.is_dir():
            raise StoreLost(f"the folder {self.path.parent} does not exist: make it, writable for this user")
        if self.seen and self.identity() is None:
            raise StoreLost("the file was deleted: put a backup in its place, or an empty file to begin anew")
        mode = "rw" if self.seen else "rwc"
        db = sqlite3.connect(
            f"file:{quote(str(self.path))}?mode={mode}",
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
        self.seen = True
        return db


class Session:
    """A connection that is opened when it is needed."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._db: sqlite3.Connection | None = None
        self._identity: Identity | None = None
        self._beside: dict[str, Identity | None] = {}

    def use(self) -> sqlite3.Connection:
        """The connection, to the file that now has the name. StoreLost or sqlite3.Error where there is none."""
        if self._db is not None and self._place.identity() != self._identity:
            self.drop()
            self._remove_beside()
        if self._db is None:
            self._db = self._place.connect()
            self._identity = self._place.identity()
            self._beside = {ending: self._place.identity(ending) for ending in ("-wal", "-shm")}
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

    def _remove_beside(self) -> None:
        """The log of a file that is gone must not be taken for the log of the one that is put in its place."""
        for ending, identity in self._beside.items():
            if identity is not None and self._place.identity(ending) == identity:
                with contextlib.suppress(OSError):
                    Path(f"{self._place.path}{ending}").unlink()
