"""From a URL to a store: `sqlite:///absolute/path`, `sqlite:relative.db`, or what redis-py takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from router_service.store.interface import Store, Timeouts
from router_service.store.sqlite import SqliteStore

FORMS = "sqlite:///absolute/path.db, sqlite:relative.db, redis://host:6379/0, rediss://host:6379/0, unix:///path.sock"
PREFIX = "router:"

_MALFORMED = "the URL of Redis is malformed: write redis://host:6379/0 or unix:///path.sock?db=0"


class StoreUrlError(ValueError):
    """The URL names no store; says what would, and never repeats a password."""


def open_store(url: str, timeouts: Timeouts | None = None, prefix: str = PREFIX) -> Store:
    """The store of a URL, not yet connected. `prefix` begins every key in Redis."""
    scheme = url.partition(":")[0].lower()
    make = _SCHEMES.get(scheme)
    if "{" in prefix or "}" in prefix:
        raise StoreUrlError(f"the prefix {prefix!r} has braces, which would decide where in a cluster keys live")
    if make is None:
        named = f"the scheme {scheme!r}" if re.fullmatch(r"[a-z][a-z0-9+.-]{0,30}", scheme) and ":" in url else "it"
        raise StoreUrlError(f"a store's URL is one of {FORMS}; {named} is none of them")
    return make(url, timeouts or Timeouts(), prefix)


def _sqlite(url: str, timeouts: Timeouts, _prefix: str) -> Store:
    rest = url.partition(":")[2]
    if rest.startswith("//") and not rest.startswith("///"):
        raise StoreUrlError("sqlite:// takes no host: write sqlite:///absolute/path.db or sqlite:relative.db")
    path = unquote(rest.removeprefix("//"))
    if not path or path.endswith("/") or "\0" in path:
        raise StoreUrlError(f"the path {path!r} names no file: write sqlite:///absolute/path.db or sqlite:relative.db")
    if path == ":memory:" or "?" in rest:
        raise StoreUrlError("the SQLite store is a file, and takes no options: write sqlite:///absolute/path.db")
    return SqliteStore(Path(path), timeouts)


def _redis(url: str, timeouts: Timeouts, prefix: str) -> Store:
    _check_redis(url)
    # Only here, so that who keeps to SQLite needs no client of Redis.
    try:
        from router_service.store.redis import RedisStore  # noqa: PLC0415
    except ModuleNotFoundError as absent:
        if (absent.name or "").partition(".")[0] not in {"redis", "hiredis"}:
            raise
        raise StoreUrlError("Redis needs the extra `redis`: pip install 'router-service[redis]'") from None
    try:
        return RedisStore(url, timeouts, prefix)
    except (ValueError, TypeError):
        # Without the reason, which may repeat the URL and its password.
        raise StoreUrlError(_MALFORMED) from None


def _check_redis(url: str) -> None:
    try:
        told = urlsplit(url)
        local = told.scheme.lower() == "unix"
        sound = local or (told.port != 0 and re.fullmatch(r"(/\d*)?", told.path))
    except ValueError:
        raise StoreUrlError(_MALFORMED) from None
    if not (told.path if local else told.hostname):
        raise StoreUrlError("the URL names no host: write redis://host:6379/0 or unix:///path.sock")
    if not sound:
        raise StoreUrlError(_MALFORMED)


_SCHEMES: dict[str, Callable[[str, Timeouts, str], Store]] = {
    "sqlite": _sqlite,
    "redis": _redis,
    "rediss": _redis,
    "unix": _redis,
}
