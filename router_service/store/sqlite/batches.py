"""How each thread does what it took: the writer in one transaction for all, the reader one by one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from router_service.store.interface import StoreLost
from router_service.store.sqlite.connection import Session, is_busy, reason
from router_service.store.sqlite.worker import Item, Queue

# One of these functions gets the arguments of all its calls in a batch, and returns their results in the same order.
Write = Callable[[sqlite3.Connection, Sequence[Any]], list[Any]]
Read = Callable[[sqlite3.Connection, Any], Any]


class Writer:
    """Group commit: all that waits is done in one transaction, so that a call costs no commit of its own."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self, queue: Queue) -> list[Item]:
        try:
            db = self._session.use()
            # Before the items are taken: one that is given up while another process has the lock is never begun.
            db.execute("BEGIN IMMEDIATE")
        except (sqlite3.Error, StoreLost, OSError) as error:
            if isinstance(error, sqlite3.Error) and is_busy(error):
                queue.note = reason(error)
                return []
            self._session.drop()
            return _failed(queue.take(), error)
        items = queue.take()
        try:
            self._do(db, items)
        except Exception as error:  # noqa: BLE001 - the thread outlives whatever a call brings
            self._undo(error)
            if len(items) > 1:
                # One may be to blame, so each gets a transaction of its own. Those that nobody waits for are left.
                for item in items:
                    self._alone(item)
            else:
                _failed(items, error)
        return items

    def _alone(self, item: Item) -> None:
        if item.gone:
            return
        try:
            db = self._session.use()
            db.execute("BEGIN IMMEDIATE")
            self._do(db, [item])
        except Exception as error:  # noqa: BLE001 - the thread outlives whatever a call brings
            self._undo(error)
            _failed([item], error)

    @staticmethod
    def _do(db: sqlite3.Connection, items: Sequence[Item]) -> None:
        kinds: dict[Write, list[Item]] = {}
        for item in items:
            kinds.setdefault(item.run, []).append(item)
        # All of them are under way at once, so any order is a right one.
        for run, alike in kinds.items():
            for item, result in zip(alike, run(db, [item.argument for item in alike]), strict=True):
                item.result = result
        db.execute("COMMIT")

    def _undo(self, error: Exception) -> None:
        """Nothing of the transaction stays; closing the connection undoes it too where the file is to blame."""
        if isinstance(error, (sqlite3.OperationalError, StoreLost, OSError)) or type(error) is sqlite3.DatabaseError:
            self._session.drop()
            return
        try:
            self._session.use().execute("ROLLBACK")
        except (sqlite3.Error, StoreLost, OSError):
            self._session.drop()


class Reader:
    """Reads on a connection of its own, which sees what is committed and waits for no writer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._now: Item | None = None

    def __call__(self, queue: Queue) -> list[Item]:
        items = queue.take_one()
        for item in items:
            self._now = item
            while not item.gone and not self._done(item, queue):
                pass
        self._now = None
        return items

    def _done(self, item: Item, queue: Queue) -> bool:
        try:
            item.result = item.run(self._session.use(), item.argument)
        except Exception as error:  # noqa: BLE001 - the thread outlives whatever a call brings
            if isinstance(error, sqlite3.Error) and is_busy(error):
                queue.note = reason(error)
                return False
            if getattr(error, "sqlite_errorname", "") == "SQLITE_INTERRUPT":
                return False  # meant for the call before, if nobody gave up this one
            self._session.drop()
            _failed([item], error)
        return True

    def interrupt(self, item: Item) -> None:
        """Stops a read that nobody waits for any more, so that the next ones can begin."""
        if self._now is item:
            self._session.interrupt()


def _failed(items: list[Item], error: Exception) -> list[Item]:
    for item in items:
        item.error = StoreLost(reason(error))
    return items
