"""Moves what is committed from the write-ahead log into the file, in a thread of its own.

SQLite would do it in a commit, which then waits for the disk for tens of milliseconds. A passive checkpoint hinders
nobody, but the log begins anew only after one that found no writer. Where writers never pause and the log has grown
too long, one is made that they wait for, once so little is left to move that the wait is short.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading

from router_service.store.interface import StoreLost
from router_service.store.sqlite.connection import Session

EVERY_S = 1.0
LOG_PAGES_SOON = 1024  # 4 MB: where the log should begin anew if it costs nobody anything
LOG_PAGES_MAX = 32768  # 128 MB
LEFT_PAGES_MAX = 256
TRIES = 3
PATIENCE_MS = 5000  # for a moment between two writers


class Checkpointer:
    """The thread, from the beginning until `close`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="store-checkpoint", daemon=True)
        self._thread.start()

    async def close(self, timeout_s: float) -> None:
        """Waits until it has let go of the file, but no longer than that."""
        self._ending.set()
        await asyncio.to_thread(self._thread.join, timeout_s)

    def _run(self) -> None:
        while not self._ending.wait(EVERY_S):
            try:
                self._move(self._session.use())
            except (sqlite3.Error, StoreLost, OSError):
                # The calls say what is wrong; here it is tried again.
                self._session.drop()
        self._session.drop()

    def _move(self, db: sqlite3.Connection) -> None:
        # Again at once: little is left then, and perhaps no writer comes in between.
        for _ in range(TRIES):
            _, log, moved = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if log <= LOG_PAGES_SOON:
                return
        if log <= LOG_PAGES_MAX or log - moved > LEFT_PAGES_MAX:
            return
        db.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
        db.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
