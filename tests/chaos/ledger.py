"""The ledger: what answered decisions hold of each policy's day, kept beside the store and to the cent."""

from __future__ import annotations

import math
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from redis import Redis

from router_service.policies.leases import PREFIX
from tests.chaos.processes import Call, World

# An instance may go on for so long out of a lease that an emptied store has forgotten.
LEASE_S = 65
Day = tuple[str, str]


@dataclass
class Entry:
    """What a decision reserved, in 10⁻¹², and what was reported of it, where that is certain."""

    trace_id: str
    day: Day
    amount: int
    call: Call
    settled: int | None = None
    certain: bool = True

    @property
    def least(self) -> int:
        """What it counts at least, whenever one looks; a report may be under way."""
        return min(self.amount, self.amount if self.settled is None else self.settled) if self.certain else 0


@dataclass(frozen=True)
class Row:
    """One row of a store's own ledger: what was reserved, and whether its report came since."""

    trace_id: str
    day: Day
    amount: int
    reported: bool


@dataclass(frozen=True)
class Kept:
    """What a store keeps of money: a total of each day, and the rows that make it up."""

    totals: dict[Day, int]
    rows: list[Row]


class Ledger:
    """Holds every answered decision under a budget against what others hold already."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._days: dict[Day, list[Entry]] = defaultdict(list)
        self._costs: dict[str, int] = {}
        self._counts_from = -math.inf

    def emptied(self, at: float) -> None:
        """The store has lost everything: spending begins anew."""
        self._counts_from = at + LEASE_S
        self.entries.clear()
        self._days.clear()

    def add(self, trace_id: str, day: Day, amount: int, budget: int, call: Call) -> list[str]:
        """Notes a decision; what is wrong where it did not fit any more.

        What was answered before the call began was spent by then, whichever instance answered it.
        """
        if call.begun < self._counts_from:
            return []
        before = sum(one.least for one in self._days[day] if one.call.ended < call.begun)
        entry = Entry(trace_id, day, amount, call)
        self.entries[trace_id] = entry
        self._days[day].append(entry)
        if before + amount > budget:
            return [f"{day}: {before} were spent and {amount} reserved, of a budget of {budget}"]
        return []

    def reporting(self, trace_id: str, cost: int) -> None:
        """A report is under way, so that what it settles at may count or not."""
        self._costs[trace_id] = cost
        if entry := self.entries.get(trace_id):
            entry.settled, entry.certain = cost, False

    def reported(self, trace_id: str) -> None:
        """The report was taken."""
        if entry := self.entries.get(trace_id):
            entry.certain = True

    def audit(self, kept: Kept) -> list[str]:
        """Totals of the store that its own rows do not make up, and answers that it holds otherwise or not at all."""
        rows = {row.trace_id: row for row in kept.rows}
        leased: dict[Day, int] = defaultdict(int)
        sums: dict[Day, int] = defaultdict(int)
        for row in kept.rows:
            # What nobody here reported was given back: it was reserved for a request that heard of a lost store.
            sums[row.day] += self._costs.get(row.trace_id, 0) if row.reported else row.amount
            if row.trace_id.startswith(PREFIX) and not row.reported:
                leased[row.day] += row.amount
        found = [
            f"{day}: the store holds {total}, and what was answered and reported makes {sums[day]}"
            for day, total in kept.totals.items()
            if total != sums[day]
        ]
        missing: dict[Day, int] = defaultdict(int)
        for entry in self.entries.values():
            if entry.trace_id not in rows:
                missing[entry.day] += entry.amount
            elif (row := rows[entry.trace_id]).day != entry.day or row.amount != entry.amount:
                found.append(f"{row} in the store, {entry.amount} on {entry.day} by its answer")
            elif entry.settled is not None and entry.certain and not row.reported:
                found.append(f"{row} in the store, though its report was answered")
        # A killed process leaves its lease, which counts for what was taken out of it and not written yet.
        found += [
            f"{day}: decisions that hold {amount} are not in the store, and leases left by kills hold {leased[day]}"
            for day, amount in missing.items()
            if amount > leased[day]
        ]
        return found


def day_of(policy: dict[str, object], decided_at_ms: int) -> Day:
    """The policy's calendar day of an instant."""
    zone = ZoneInfo(str(policy.get("time_zone") or "UTC"))
    there = datetime.fromtimestamp(decided_at_ms / 1000, UTC).astimezone(zone)
    return str(policy["policy_id"]), there.date().isoformat()


def read(world: World) -> Kept:
    """What the store of a world keeps of money."""
    return _read_redis(world.redis.port) if world.redis else _read_sqlite(world)


def _read_sqlite(world: World) -> Kept:
    with closing(sqlite3.connect(world.folder / "router.db", timeout=30)) as db:
        totals = db.execute("SELECT policy_id, day, settled, reserved FROM spent").fetchall()
        rows = db.execute("SELECT trace_id, policy_id, day, amount, state FROM ledger WHERE day IS NOT NULL").fetchall()
    return Kept(
        {(policy, day): int(settled) + int(reserved) for policy, day, settled, reserved in totals},
        [
            Row(trace_id, (policy, day), int(amount), state == "reported")
            for trace_id, policy, day, amount, state in rows
        ],
    )


def _read_redis(port: int) -> Kept:
    totals, rows = {}, []
    with Redis(port=port, decode_responses=True) as client:
        for key in client.scan_iter("router:{policy:*}:spent:*", count=1000):
            policy, _, day = key.removeprefix("router:{policy:").partition("}:spent:")
            kept = client.hgetall(key)
            totals[policy, day] = int(kept.get("settled") or 0) + int(kept.get("reserved") or 0)
        for key in client.scan_iter("router:{policy:*}:ledger:*", count=1000):
            policy, _, trace_id = key.removeprefix("router:{policy:").partition("}:ledger:")
            day, amount, state = client.hmget(key, "day", "amount", "state")
            if day:
                rows.append(Row(trace_id, (policy, day), int(amount), state == "reported"))
    return Kept(totals, rows)
