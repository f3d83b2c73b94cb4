"""The embedded store: one SQLite file, which several processes of one machine may share (docs/stores.md)."""

from router_service.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
