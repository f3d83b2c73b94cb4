"""Pages of traces, newest first; a page begins after the last entry of the one before, so nothing moves it."""

from __future__ import annotations

import asyncio
import base64
import re

from router_service.store.interface import Trace, TracePage, TraceQuery
from router_service.store.redis import index
from router_service.store.redis.keys import Keys
from router_service.store.redis.lane import Lane
from router_service.store.redis.scripts import WALK
from router_service.store.redis.traces import Traces

_MEMBER = re.compile(rb"\d{16}:.+", re.DOTALL)
# Entries looked at before the server takes others' commands: a millisecond or two.
_LOOKED_AT = 2000


def position(cursor: str) -> bytes | None:
    """Where the page before ended; ValueError for a cursor that was not made here."""
    if not cursor:
        return None
    try:
        member = base64.b64decode(cursor[1:], altchars=b"-_", validate=True)
    except ValueError:
        member = b""
    if not cursor.startswith("r") or not _MEMBER.fullmatch(member):
        raise ValueError(f"{cursor[:80]!r} is no cursor of this store: take next_cursor of the page before")
    return member


def _cursor(member: bytes) -> str:
    return "r" + base64.b64encode(member, altchars=b"-_").decode()


class Listing:
    """Walks the indices."""

    def __init__(self, lane: Lane, keys: Keys, traces: Traces) -> None:
        self._lane, self._keys, self._traces = lane, keys, traces

    async def page(self, query: TraceQuery, after: bytes | None, limit: int) -> TracePage:
        """The page after a position, of at most `limit` traces."""
        found: list[tuple[bytes, Trace]] = []
        while len(found) <= limit:
            wanted = limit + 1 - len(found)
            members = await self._members(query, after, wanted)
            traces = await self._traces.read_listed([index.trace_id_of(member) for member in members])
            # One that is listed and not there has just gone, or its writer was cut off.
            found += [(member, trace) for member, trace in zip(members, traces, strict=True) if trace is not None]
            if len(members) < wanted:
                break
            after = members[-1]
        more = len(found) > limit
        return TracePage(tuple(trace for _, trace in found[:limit]), _cursor(found[limit - 1][0]) if more else "")

    async def _members(self, query: TraceQuery, after: bytes | None, wanted: int) -> list[bytes]:
        """The next entries that pass the query; fewer than wanted are the last."""
        filters = []
        if query.outcome:
            filters.append(self._keys.outcome(query.outcome))
        if query.endpoint_id:
            filters.append(self._keys.endpoint(query.endpoint_id))
        policies = query.policies
        if query.policy_id:
            policies = (query.policy_id,) if policies is None or query.policy_id in policies else ()
        begin, end = _range(query, after)
        if policies is None:
            return await self._walk(filters or [self._keys.all], begin, end, wanted)
        walks = [self._walk([self._keys.policy(one), *filters], begin, end, wanted) for one in set(policies)]
        each = await asyncio.gather(*walks)
        return sorted((member for members in each for member in members), reverse=True)[:wanted]

    async def _walk(self, keys: list[str], begin: bytes, end: bytes, wanted: int) -> list[bytes]:
        if len(keys) > 1:
            sizes = await self._lane.ask(*(("ZCARD", key) for key in keys))
            keys = [key for _, key in sorted(zip(sizes, keys, strict=True))]
        found: list[bytes] = []
        while begin and len(found) < wanted:
            [(members, begin)] = await self._lane.ask(WALK(keys, begin, end, wanted - len(found), _LOOKED_AT))
            found += members
        return found


def _range(query: TraceQuery, after: bytes | None) -> tuple[bytes, bytes]:
    """From where and to where, as ZRANGE BYLEX takes them."""
    before = [after] if after is not None else []
    if query.until is not None:
        before.append(index.bound(query.until).encode())
    begin = b"(" + min(before) if before else b"+"
    return begin, b"-" if query.since is None else b"[" + index.bound(query.since).encode()
