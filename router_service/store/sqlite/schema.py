"""The tables of the file, and how an older file becomes a newer one (docs/stores.md says what each table is for).

A change of the form is a new entry at the end of MIGRATIONS, never a change of one that was released.
"""

from __future__ import annotations

import sqlite3
import time

from router_service.store.interface import StoreLost

# Marks the file as ours: `file` and `PRAGMA application_id` show it.
APPLICATION_ID = 0x524F5554

_FIRST = """
CREATE TABLE spent (
  policy_id TEXT NOT NULL, day TEXT NOT NULL, settled TEXT NOT NULL, reserved TEXT NOT NULL,
  PRIMARY KEY (policy_id, day)
) WITHOUT ROWID;

CREATE TABLE ledger (
  trace_id TEXT NOT NULL PRIMARY KEY, policy_id TEXT NOT NULL,
  day TEXT, amount TEXT, state TEXT, settled_then TEXT, reserved_then TEXT, expires_at INTEGER,
  attempts TEXT NOT NULL, outcomes TEXT NOT NULL, traceless INTEGER NOT NULL, forget_at INTEGER NOT NULL
);
CREATE INDEX ledger_open ON ledger (expires_at) WHERE state = 'open';
CREATE INDEX ledger_forget ON ledger (forget_at);

CREATE TABLE trace (
  id INTEGER PRIMARY KEY, trace_id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  policy_id TEXT NOT NULL, outcome TEXT NOT NULL, catalog_version TEXT NOT NULL, endpoints TEXT NOT NULL,
  until_report INTEGER NOT NULL, context BLOB NOT NULL, request BLOB NOT NULL, answer BLOB NOT NULL
);
CREATE INDEX trace_at ON trace (at);
CREATE INDEX trace_policy ON trace (policy_id, at);
CREATE INDEX trace_outcome ON trace (outcome, at);
CREATE INDEX trace_policy_outcome ON trace (policy_id, outcome, at);
CREATE INDEX trace_expires ON trace (expires_at);

CREATE TABLE candidate (
  endpoint_id TEXT NOT NULL, at INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (endpoint_id, at, id)
) WITHOUT ROWID;

CREATE TABLE report (
  id INTEGER PRIMARY KEY, trace_id TEXT NOT NULL, at INTEGER NOT NULL, policy_id TEXT NOT NULL, outcome TEXT NOT NULL,
  attempts BLOB NOT NULL, orphan_until INTEGER
);
CREATE INDEX report_trace ON report (trace_id);
CREATE INDEX report_orphan ON report (orphan_until) WHERE orphan_until IS NOT NULL;

CREATE TABLE catalog (version TEXT NOT NULL PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE catalog_need (version TEXT NOT NULL PRIMARY KEY, needed_until INTEGER NOT NULL, fresh INTEGER NOT NULL)
WITHOUT ROWID;
"""

_SECOND = """
CREATE TABLE state (key TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX state_version ON state (version);

ALTER TABLE report ADD COLUMN operation_id TEXT NOT NULL DEFAULT '';
ALTER TABLE trace ADD COLUMN figures TEXT NOT NULL DEFAULT '';

CREATE INDEX catalog_need_until ON catalog_need (needed_until);
CREATE INDEX catalog_need_fresh ON catalog_need (version) WHERE fresh;
"""

_THIRD = """
ALTER TABLE report ADD COLUMN caller TEXT NOT NULL DEFAULT '';
"""

MIGRATIONS: tuple[str, ...] = (_FIRST, _SECOND, _THIRD)


def prepare(db: sqlite3.Connection) -> None:
    """Brings the file up to date in one transaction; does not write where it is. StoreLost where it cannot be used."""
    if version_of(db) == len(MIGRATIONS):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        _migrate(db)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def version_of(db: sqlite3.Connection) -> int:
    """How many of MIGRATIONS the file has; StoreLost where it is another program's."""
    mark = db.execute("PRAGMA application_id").fetchone()[0]
    if mark == APPLICATION_ID:
        return int(db.execute("SELECT coalesce(max(version), 0) FROM migration").fetchone()[0])
    if mark or db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreLost("the file is another program's database: give the store a file of its own")
    return 0


def _migrate(db: sqlite3.Connection) -> None:
    # Again, now under the lock: another process may have been quicker.
    version = version_of(db)
    if version > len(MIGRATIONS):
        raise StoreLost(
            f"the file has form {version}, and this version of the service knows {len(MIGRATIONS)}: "
            "run the newer version, or put back the backup from before it"
        )
    if version == 0:
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("CREATE TABLE migration (version INTEGER NOT NULL PRIMARY KEY, applied_at INTEGER NOT NULL)")
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        # Not executescript, which commits first.
        for statement in filter(str.strip, script.split(";")):
            db.execute(statement)
        db.execute("INSERT INTO migration VALUES (?, ?)", (number, int(time.time() * 1000)))
