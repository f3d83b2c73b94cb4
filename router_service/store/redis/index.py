"""What lists traces: for all of them, and for each policy, outcome and endpoint, one set in the order of time.

An entry is the time in 16 digits and the id, so that the order of the texts is the order of the list, and a place in
it can be named exactly. The index of expiry also says in which other sets a trace stands, so that a sweep needs nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from router_service.store.interface import Trace
from router_service.store.redis.keys import Keys
from router_service.store.redis.scripts import INDEX, UNINDEX, Command


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A trace, as the index of expiry knows it."""

    trace_id: str
    at: int
    policy_id: str
    outcome: str
    endpoints: tuple[str, ...]

    def encode(self) -> bytes:
        """As a member of the index of expiry."""
        return msgspec.json.encode(self)

    @classmethod
    def decode(cls, member: bytes) -> Entry:
        """From such a member."""
        return msgspec.json.decode(member, type=cls)

    def keys(self, keys: Keys) -> Iterable[str]:
        """The other sets that it stands in."""
        yield keys.all
        yield keys.policy(self.policy_id)
        yield keys.outcome(self.outcome)
        yield from (keys.endpoint(endpoint_id) for endpoint_id in sorted(set(self.endpoints)))


def entry_of(trace: Trace) -> Entry:
    """The entry of a trace."""
    return Entry(trace.trace_id, trace.at, trace.policy_id, trace.outcome, trace.endpoints)


def place(at: int, trace_id: str) -> str:
    """The member of the other sets."""
    return f"{bound(at)}:{trace_id}"


def bound(at: int) -> str:
    """What all members of that time and later come after."""
    return f"{max(0, at):016d}"


def trace_id_of(member: bytes) -> str:
    """The trace of such a member."""
    return member.partition(b":")[2].decode()


def add(keys: Keys, traces: Sequence[Trace], life_ms: int) -> Command:
    """The command that lists traces."""
    entries = [entry_of(trace) for trace in traces]
    scored = [part for trace, one in zip(traces, entries, strict=True) for part in (trace.expires_at, one.encode())]
    others, places = _places(keys, entries)
    return INDEX([keys.expires, *others], life_ms, len(traces), *scored, *places)


def remove(keys: Keys, entries: Sequence[Entry]) -> Command:
    """The command that lists them no more; it says how many were listed."""
    others, places = _places(keys, entries)
    return UNINDEX([keys.expires, *others], len(entries), *(one.encode() for one in entries), *places)


def _places(keys: Keys, entries: Iterable[Entry]) -> tuple[list[str], list[str | int]]:
    """The sets, and for each place in one its number among the keys of the script and the member."""
    numbers: dict[str, int] = {}
    places: list[str | int] = []
    for one in entries:
        member = place(one.at, one.trace_id)
        for key in one.keys(keys):
            places += [numbers.setdefault(key, len(numbers) + 2), member]
    return list(numbers), places
