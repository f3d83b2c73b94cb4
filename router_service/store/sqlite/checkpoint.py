"""Moves what is committed from the write-ahead log into the file, in a thread of its own.

SQLite would do it in a commit, which then waits for the disk for tens of milliseconds. A passive checkpoint hinders
nobody; only where writers never pause and the log has grown too long is one made that they wait for.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading

from router_service.store.interface import StoreLost
from router_service.store.sqlite.connection import Session

EVERY_S = 1.0
LOG_PAGES_MAX = 16384  # 64 MB
PATIENCE_MS = 5000  # for a moment between two writers


class Checkpointer:
    """The thread; `close` ends it soon."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="store-checkpoint", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Does not wait."""
        self._ending.set()

    def _run(self) -> None:
        while not self._ending.wait(EVERY_S):
            try:
                db = self._session.use()
                _, log, _ = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if log > LOG_PAGES_MAX:
                    db.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
                    db.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
            except (sqlite3.Error, StoreLost, OSError):
                # The calls say what is wrong; here it is tried again.
                self._session.drop()
        with contextlib.suppress(sqlite3.Error):
            self._session.drop()
