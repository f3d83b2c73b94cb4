"""Traces by their id, and what was reported of them.

A trace, its reports, and what lists it live in different slots, so they are written one after another, in an order that
heals: a trace is there before it is listed, a list leaves out what is not there, and a writer looks for a report, and a
reporter for the trace, after its own work is done.
"""

from __future__ import annotations

from collections.abc import Sequence

from router_service.store.interface import Attempt, Report, StoredTrace, Trace
from router_service.store.needs import needed_until
from router_service.store.packed import pack_trace, unpack_attempts, unpack_head, unpack_trace
from router_service.store.redis import index
from router_service.store.redis.keys import Keys
from router_service.store.redis.lane import Lane
from router_service.store.redis.scripts import NEED_CATALOGS, TRACELESS, Command

# What lives by itself goes by itself some time after a sweep should have removed it.
MARGIN_MS = 24 * 3600 * 1000


class Traces:
    """What was decided, and what came of it."""

    def __init__(self, lane: Lane, keys: Keys) -> None:
        self._lane, self._keys = lane, keys

    async def write(self, traces: Sequence[Trace]) -> None:
        """Writes some; one that is there stays as it is."""
        bodies = [pack_trace(trace) for trace in traces]
        lives = [max(0, trace.expires_at - trace.at) + MARGIN_MS for trace in traces]
        commands = [self._need_catalogs(traces, max(lives))]
        for trace, body, life in zip(traces, bodies, lives, strict=True):
            commands.append(("SET", self._keys.trace(trace.trace_id), body, "NX", "GET", "PX", life))
            commands.append(("HGET", self._keys.ledger(trace.policy_id, trace.trace_id), "reported"))
        _, *answers = await self._lane.ask(*commands)
        listed, commands = [], []
        for trace, body, life, before, reported in zip(traces, bodies, lives, answers[::2], answers[1::2], strict=True):
            if before not in (None, body):
                continue
            if trace.until_report and reported:
                commands += self._remove(trace)
                continue
            # The same again too: the writer may have been cut off before it was listed.
            listed.append(trace)
            if reported:
                commands += self._lengthen(trace.policy_id, trace.trace_id, life)
        if listed:
            commands.append(index.add(self._keys, listed, max(lives)))
        if commands:
            await self._lane.ask(*commands)

    def _need_catalogs(self, traces: Sequence[Trace], life_ms: int) -> Command:
        until = needed_until(traces).items()
        return NEED_CATALOGS(self._keys.catalogs[:2], life_ms, *(part for one in until for part in one))

    def look(self, trace_id: str) -> tuple[Command, Command]:
        """What `after_report` wants to know: whether the trace is there, and how long it lives yet."""
        key = self._keys.trace(trace_id)
        return ("GETRANGE", key, 0, 0), ("PTTL", key)

    async def after_report(self, report: Report, flag: bytes, life_ms: int) -> None:
        """Lets what was reported live as long as the trace, or removes the trace where that is all it waited for."""
        if flag == b"0":
            await self._lane.ask(*self._lengthen(report.policy_id, report.trace_id, life_ms))
        elif flag == b"1":
            [body] = await self._lane.ask(("GET", self._keys.trace(report.trace_id)))
            if body is not None:
                trace = unpack_trace(body)
                await self._lane.ask(*self._remove(trace), index.remove(self._keys, [index.entry_of(trace)]))

    def _lengthen(self, policy_id: str, trace_id: str, life_ms: int) -> list[Command]:
        keys = (self._keys.ledger(policy_id, trace_id), self._keys.reports(policy_id, trace_id))
        return [("PEXPIRE", key, life_ms, "GT") for key in keys]

    def _remove(self, trace: Trace) -> list[Command]:
        return [
            ("DEL", self._keys.trace(trace.trace_id)),
            TRACELESS(
                [
                    self._keys.ledger(trace.policy_id, trace.trace_id),
                    self._keys.reports(trace.policy_id, trace.trace_id),
                ]
            ),
        ]

    async def read(self, trace_id: str) -> StoredTrace | None:
        """One trace with its reports."""
        [body] = await self._lane.ask(("GET", self._keys.trace(trace_id)))
        if body is None:
            return None
        trace = unpack_trace(body)
        [parts] = await self._lane.ask(("LRANGE", self._keys.reports(trace.policy_id, trace_id), 0, -1))
        return StoredTrace(trace, _reports(trace_id, parts))

    async def read_listed(self, trace_ids: Sequence[str]) -> list[Trace | None]:
        """Several traces without their reports."""
        if not trace_ids:
            return []
        bodies = await self._lane.ask(*(("GET", self._keys.trace(trace_id)) for trace_id in trace_ids))
        return [None if body is None else unpack_trace(body) for body in bodies]

    async def sweep(self, now: int, limit: int) -> tuple[int, int]:
        """Removes some of the expired; how many were found, and how many of them no other sweep removed first."""
        [found] = await self._lane.ask(
            ("ZRANGE", self._keys.expires, "-inf", now, "BYSCORE", "LIMIT", 0, limit),
        )
        if not found:
            return 0, 0
        entries = [index.Entry.decode(one) for one in found]
        gone = [
            key
            for one in entries
            for key in (self._keys.trace(one.trace_id), self._keys.reports(one.policy_id, one.trace_id))
        ]
        *_, removed = await self._lane.ask(*(("UNLINK", key) for key in gone), index.remove(self._keys, entries))
        return len(entries), int(removed)


def _reports(trace_id: str, parts: Sequence[bytes]) -> tuple[Report, ...]:
    """Reports from what the script keeps of each: its head, then each of its new attempts."""
    heads: list[tuple[bytes, list[Attempt]]] = []
    for part in parts:
        if part.startswith(b"R"):
            heads.append((part[1:], []))
        else:
            heads[-1][1].extend(unpack_attempts(part[1:]))
    return tuple(unpack_head(trace_id, head, tuple(attempts)) for head, attempts in heads)
