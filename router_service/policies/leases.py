"""Leases: a part of a busy policy's day, reserved ahead in one durable step, out of which decisions reserve at once.

A reservation of its own costs a step of the store that a decision waits for. Where many are made a second, that is
what a decision costs; out of a lease it costs nothing, and what was taken out is written with the traces, a moment
later (docs/reliability.md, Daily budget). The money was checked and reserved before, so no two can spend it, and a
process that is killed leaves a lease that counts as spent.
"""

from __future__ import annotations

import asyncio
import secrets

import msgspec

from router_service.policies.days import Day
from router_service.policies.retention import REPORT_WINDOW_MS
from router_service.store.interface import Report, Reservation, Spending, Store, StoreLost

# A policy is busy where it made so many reservations in a second; its lease lasts about so many seconds.
BUSY = 20
_SECONDS = 2
# So that what one instance holds is never missed by another: at most this part of what is left of the day.
_PART = 100
# A lease that is not used goes back after IDLE_MS, and every one after LEASE_MS, to be taken anew.
IDLE_MS = 2_000
LEASE_MS = 60_000
PREFIX = "lease-"
"""How the ids of leases begin, which stand among the trace_ids of a store's ledger."""


class Lease:
    """Money of one policy and day. `left` is not taken out yet, `drawn` taken out and not written yet.

    `drawn` holds (amount, instant) by trace_id.
    """

    __slots__ = ("drawn", "left", "of", "rest", "used_at")

    def __init__(self, of: Reservation, rest: int) -> None:
        """`of` is how it was reserved; `rest` is what was left of the day beside it."""
        self.of, self.rest = of, rest
        self.left = of.amount
        self.used_at = of.at
        self.drawn: dict[str, tuple[int, int]] = {}

    def take(self, trace_id: str, amount: int, now: int) -> None:
        """Reserves for a decision; there must be so much left."""
        self.left -= amount
        self.used_at = now
        self.drawn[trace_id] = (amount, now)

    def reservations(self) -> list[Reservation]:
        """What was taken out and is not written yet."""
        return [
            msgspec.structs.replace(self.of, trace_id=trace_id, amount=amount, at=at, expires_at=at + REPORT_WINDOW_MS)
            for trace_id, (amount, at) in self.drawn.items()
        ]


class _Pace(msgspec.Struct):
    """What was reserved in this second and in the one before: how many and how much."""

    second: int = 0
    count: int = 0
    amount: int = 0
    count_before: int = 0
    amount_before: int = 0

    def add(self, amount: int, now: int) -> None:
        second = now // 1000
        if second != self.second:
            follows = second == self.second + 1
            self.count_before, self.amount_before = (self.count, self.amount) if follows else (0, 0)
            self.second, self.count, self.amount = second, 0, 0
        self.count += 1
        self.amount += amount

    @property
    def wanted(self) -> int:
        """What a lease should hold; 0 where the policy is not busy."""
        if max(self.count, self.count_before) < BUSY:
            return 0
        return _SECONDS * max(self.amount, self.amount_before)


class Leases:
    """The leases of one process, at most one of each policy in use."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[str, Lease] = {}
        self._ending: list[Lease] = []
        self._paces: dict[str, _Pace] = {}
        self._taking: dict[str, asyncio.Task[None]] = {}
        self._flushing = asyncio.Lock()
        self._suspended = False

    def of(self, policy_id: str, day: Day, budget: int, now: int) -> Lease | None:
        """The lease to take out of; None where there is none for this day and this budget, or the store is lost."""
        lease = self._held.get(policy_id)
        if lease is None:
            return None
        fits = lease.of.day == day.date and lease.of.budget == budget and 0 <= now - lease.of.at < LEASE_MS
        if not fits:
            self._end(policy_id)
        return lease if fits and not self._suspended else None

    def reserved(self, policy_id: str, day: Day, budget: int, amount: int, now: int, spending: Spending | None) -> None:
        """Notes a reservation, and takes or renews a lease where that is worth it.

        `spending` is what was heard of the day; None for a reservation out of the lease.
        """
        pace = self._paces.get(policy_id)
        if pace is None:
            pace = self._paces[policy_id] = _Pace()
        pace.add(amount, now)
        lease = self._held.get(policy_id)
        if policy_id in self._taking or (lease is not None and 2 * lease.left > lease.of.amount):
            return
        if spending is not None:
            rest = budget - spending.total
        elif lease is not None:
            rest = lease.rest
        else:
            return
        block = min(pace.wanted, rest // _PART)
        if block <= amount:
            return
        reservation = Reservation(
            trace_id=PREFIX + secrets.token_hex(16),
            policy_id=policy_id,
            day=day.date,
            amount=block,
            budget=budget,
            at=now,
            expires_at=now + REPORT_WINDOW_MS,
        )
        self._taking[policy_id] = asyncio.create_task(self._take(reservation))

    async def flush(self) -> None:
        """Writes what was taken out, and gives back the leases that have ended. Raises StoreLost."""
        async with self._flushing:
            try:
                for lease in list(self._held.values()):
                    await self._write(lease)
                while self._ending:
                    lease = self._ending[0]
                    # It may have ended just now, with decisions taken out of it since it was written above.
                    await self._write(lease)
                    await self._give_back(lease)
                    del self._ending[0]
            except StoreLost:
                self._suspended = True
                raise
            self._suspended = False

    async def give_back(self, policy_id: str) -> bool:
        """Gives back what is left of a policy's leases; whether it had one. Raises StoreLost."""
        if policy_id in self._held:
            self._end(policy_id)
        elif all(lease.of.policy_id != policy_id for lease in self._ending):
            return False
        await self.flush()
        return True

    async def tend(self, now: int) -> None:
        """Ends the leases that nobody uses. Raises StoreLost."""
        for policy_id, lease in list(self._held.items()):
            if not 0 <= now - lease.used_at < IDLE_MS:
                self._end(policy_id)
                self._paces.pop(policy_id, None)
        if self._ending or self._suspended:
            await self.flush()

    async def close(self) -> None:
        """Ends all. Raises StoreLost."""
        await asyncio.gather(*self._taking.values())
        for policy_id in list(self._held):
            self._end(policy_id)
        await self.flush()

    def _end(self, policy_id: str) -> None:
        self._ending.append(self._held.pop(policy_id))

    async def _take(self, reservation: Reservation) -> None:
        policy_id = reservation.policy_id
        try:
            reserved = await self._store.reserve(reservation)
        except StoreLost:
            # It may have been made without anybody hearing of it; what was not made is given back for nothing.
            self._ending.append(Lease(reservation, 0))
            self._suspended = True
            return
        finally:
            del self._taking[policy_id]
        if reserved.made:
            if policy_id in self._held:
                self._end(policy_id)
            self._held[policy_id] = Lease(reservation, reservation.budget - reserved.spending.total)

    async def _write(self, lease: Lease) -> None:
        drawn = lease.reservations()
        if drawn:
            await self._store.draw(lease.of.trace_id, drawn)
            for one in drawn:
                del lease.drawn[one.trace_id]

    async def _give_back(self, lease: Lease) -> None:
        nothing = Report(
            trace_id=lease.of.trace_id, policy_id=lease.of.policy_id, at=lease.used_at, outcome="failed", attempts=()
        )
        await self._store.report(nothing)
