"""The ledger of side effects: what has an execution key is done once, however often a generation is tried again."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

PENDING = "pending"
COMPLETED = "completed"
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a key: `pending`, `completed` with its result as JSON, or `failed` with its error's kind."""

    state: str
    text: str = ""


class NotRun(Exception):
    """The action was not run; `key` and `entry` say why."""

    def __init__(self, key: str, entry: Entry, why: str) -> None:
        super().__init__(f"{why} (key {key})")
        self.key = key
        self.entry = entry


class StillPending(NotRun):
    """It was begun and it is not known how it ended: another may be at it, or it crashed. Find out, and `settle` it."""


class HasFailed(NotRun):
    """It failed before. Whether to do it again is a decision of its own: `once(…, again=True)`."""


class Store(Protocol):
    """Where entries are kept; each call is one atomic, durable step."""

    def begin(self, key: str, *, again: bool) -> Entry | None:
        """Enters the key as pending and returns None; or what it has, where it is known (`again`: and not failed)."""

    def end(self, key: str, entry: Entry) -> None:
        """Puts the entry in the place of what the key has."""


class Ledger:
    """Runs actions at most once per key.

    Args:
        store: where entries are kept: SqliteStore, RedisStore, or one of your own.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def once(self, key: str, action: Callable[[], Any], *, again: bool = False) -> Any:
        """The action's result, a JSON value: of now, or of when it was run before.

        Args:
            key: its execution_key.
            action: does it. An Exception is noted as failed and raised again. After an interrupt, and where the result
                is no JSON value (TypeError), it stays pending, since it may have been done.
            again: whether to run what failed before.

        Raises:
            StillPending: it was begun before and it is not known how it ended. It is never run twice.
            HasFailed: it failed before.
        """
        known = self._store.begin(key, again=again)
        if known is None:
            return self._run(key, action)
        if known.state == COMPLETED:
            return json.loads(known.text)
        if known.state == FAILED:
            raise HasFailed(key, known, f"it failed before: {known.text}")
        raise StillPending(key, known, "it was begun before and has not ended")

    def settle(self, key: str, result: Any = None, *, failed: bool = False) -> None:
        """Says how a pending one ended, once you have found out: with this result, or failed."""
        self._store.end(key, Entry(FAILED, "settled by hand") if failed else Entry(COMPLETED, json.dumps(result)))

    def _run(self, key: str, action: Callable[[], Any]) -> Any:
        try:
            result = action()
        except Exception as error:
            self._store.end(key, Entry(FAILED, type(error).__name__))
            raise
        self._store.end(key, Entry(COMPLETED, json.dumps(result)))
        return result


class SqliteStore:
    """Entries in a SQLite file, for threads and processes of one machine. Close it, or use it in a `with` statement."""

    def __init__(self, path: Path | str) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")  # what is pending must be so after a power cut too
        self._database.execute("CREATE TABLE IF NOT EXISTS ledger (key TEXT PRIMARY KEY, state TEXT, text TEXT)")

    def begin(self, key: str, *, again: bool) -> Entry | None:
        enter = (
            "INSERT INTO ledger VALUES (?, 'pending', '') ON CONFLICT (key) DO UPDATE SET state = 'pending', text = '' "
            "WHERE ? AND state = 'failed'"
        )
        with self._lock:
            with closing(self._database.execute(enter, (key, again))) as done:
                if done.rowcount == 1:
                    return None
            row = self._database.execute("SELECT state, text FROM ledger WHERE key = ?", (key,)).fetchone()
        return Entry(*row)

    def end(self, key: str, entry: Entry) -> None:
        with self._lock:
            self._database.execute("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?)", (key, entry.state, entry.text))

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


# Enters a key as pending, or tells what it has: one step, since Redis runs a script alone.
_BEGIN = """
local known = redis.call('GET', KEYS[1])
if known and not (ARGV[1] == '1' and string.sub(known, 1, 7) == 'failed ') then return known end
redis.call('SET', KEYS[1], 'pending ')
return false
"""


class RedisStore:
    """Entries in Redis or Valkey, for several machines. They are as durable as the server is: `appendfsync always`.

    Args:
        client: a `redis.Redis`, which stays the caller's to close.
        prefix: what the names of the keys begin with.
    """

    def __init__(self, client: Any, prefix: str = "router-ledger:") -> None:
        self._client = client
        self._prefix = prefix

    def begin(self, key: str, *, again: bool) -> Entry | None:
        known = self._client.eval(_BEGIN, 1, self._prefix + key, int(again))
        if known is None:
            return None
        state, _, text = (known.decode() if isinstance(known, bytes) else str(known)).partition(" ")
        return Entry(state, text)

    def end(self, key: str, entry: Entry) -> None:
        self._client.set(self._prefix + key, f"{entry.state} {entry.text}")
