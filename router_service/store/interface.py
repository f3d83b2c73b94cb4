"""The one interface of all stores, and the values that go in and out (docs/reliability.md, Stores).

Amounts are integers of 10⁻¹² of the currency, none negative and of any size; instants integer milliseconds, all of the
caller's clock; bodies opaque bytes. Every method may raise StoreLost, and nothing else; a caller decides then what a
lost store means for it. What it asked for may have been done all the same, so every call may be made again: a second
time changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class StoreLost(Exception):
    """The store cannot be reached, is full, or is too slow; says which store and why, without any secret."""


REMEMBERED_MS = 7 * 24 * 3600 * 1000
"""How long a reservation and the ids of a trace's attempts are known after the last word of them.

They are known as long as the trace is, where that is longer. A report after that is one of a trace that was never
reserved, so it cannot count twice.
"""

SPENDING_DAYS = 400
"""How long a day's spending is known."""

GRACE_MS = 3600 * 1000
"""How long a kept version, or a report, waits for its trace to be written."""

SWAPS_MAX = 5000
"""How many changes one call of `swap` may bring."""


class Timeouts(msgspec.Struct, frozen=True):
    """Seconds after which a call is lost.

    `money` for reserve, report and spending, and for each step of swap and states; `other` for each step of others.
    """

    money: float = 1.0
    other: float = 5.0


class Spending(msgspec.Struct, frozen=True):
    """What a policy has spent on one day, and what its open reservations hold."""

    settled: int = 0
    reserved: int = 0

    @property
    def total(self) -> int:
        """What counts against the budget."""
        return self.settled + self.reserved


class Reservation(msgspec.Struct, frozen=True, kw_only=True):
    """Money that a decision may cost, on the `day` (2026-11-30) of its policy's time zone.

    `budget` is the policy's of now: it may have changed since the day began.
    """

    trace_id: str
    policy_id: str
    day: str
    amount: int
    budget: int
    at: int
    expires_at: int


class Reserved(msgspec.Struct, frozen=True):
    """Whether a reservation was made, and what is spent with it."""

    made: bool
    spending: Spending


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One reported attempt: `cost` is what it settles at, `body` what was reported of it."""

    attempt_id: str
    endpoint_id: str
    cost: int
    body: bytes


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a decision: its attempts, its outcome, the caller's own id of the operation, if told, and who told.

    `caller` is the id of whoever reported; empty in what was kept before it was.
    """

    trace_id: str
    policy_id: str
    at: int
    outcome: str
    attempts: tuple[Attempt, ...]
    operation_id: str = ""
    caller: str = ""


class Taken(msgspec.Struct, frozen=True):
    """How many attempts of a report were new, and how many were known by (trace_id, attempt_id) and changed nothing.

    `new` has the attempt_ids of the new ones, in the order of the report. An attempt is new in one answer at most; in
    none, where that answer was lost.
    """

    accepted: int
    duplicates: int
    new: tuple[str, ...] = ()


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A decision or a refusal as it was made. `outcome` is `decided` or the refusal's name.

    `until_report` marks one that is kept no longer than its report takes to come; `context` is what of the outside had
    a part in it (JSON). `catalog_version` and, where it is not empty, `figures` name what keep_catalog keeps for it.
    """

    trace_id: str
    at: int
    expires_at: int
    policy_id: str
    outcome: str
    catalog_version: str
    endpoints: tuple[str, ...]
    request: bytes
    answer: bytes
    context: bytes = b"{}"
    until_report: bool = False
    figures: str = ""


class StoredTrace(msgspec.Struct, frozen=True):
    """A trace with what was reported of it, in the order of coming."""

    trace: Trace
    reports: tuple[Report, ...] = ()


class TraceQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which traces, newest first: each filter that is not empty must hold; `since` ≤ at < `until` (ms).

    `endpoint_id` matches a trace that lists it as a candidate. `policies` None is any; a caller who may see only some
    gives those.
    """

    policy_id: str = ""
    outcome: str = ""
    endpoint_id: str = ""
    since: int | None = None
    until: int | None = None
    policies: tuple[str, ...] | None = None


class TracePage(msgspec.Struct, frozen=True):
    """A page of traces without their reports, and the cursor of the next page, empty on the last one."""

    traces: tuple[Trace, ...]
    next_cursor: str = ""


class State(msgspec.Struct, frozen=True):
    """What instances know together of one endpoint, by its id; `version` 0 is that of one that is not kept."""

    key: str
    version: int
    body: bytes


class Swapped(msgspec.Struct, frozen=True):
    """Whether a change was made, and what is kept now; version 0 and an empty body where nothing is."""

    made: bool
    state: State


class Swept(msgspec.Struct, frozen=True):
    """What a sweep removed: traces, and bodies kept by version; `more` says that it stopped at its limit."""

    traces: int
    catalogs: int
    more: bool


class Store(Protocol):
    """See the module's docstring. All methods may be called at any time from one event loop."""

    @property
    def name(self) -> str:
        """What logs and metrics call it: `sqlite`, `redis`."""

    async def open(self) -> None:
        """Connects, and brings an older form of the stored data up to date.

        Where it raises StoreLost, later calls try to connect anew, as they do whenever the store was lost.
        """

    async def close(self) -> None:
        """Ends what is under way and lets go; calls after it raise StoreLost."""

    async def reserve(self, reservation: Reservation) -> Reserved:
        """Checks and reserves in one atomic step.

        Not made where the day's total has reached the budget, or the amount does not fit in what is left: then nothing
        is kept, and the same trace_id may ask again for less. Once made, the same trace_id again changes nothing and
        answers as the first time.
        """

    async def draw(self, lease: str, drawn: Sequence[Reservation]) -> None:
        """Takes reservations out of one that was made before under the trace_id `lease`; the day's total stays.

        All are of its policy and day. They are not checked: their money was, with the lease. Whatever became of that
        meanwhile (it expired, it was given back), they are reserved, once each, and it holds so much less. In steps,
        each atomic.
        """

    async def spending(self, policy_id: str, day: str) -> Spending:
        """What is spent on a day."""

    async def expire(self, now: int, limit: int) -> int:
        """Settles reservations whose time has passed (expires_at ≤ now) at their amounts, at most `limit`; how many."""

    async def report(self, report: Report) -> Taken:
        """Takes a report in one atomic step, durable when it returns: known attempts change nothing.

        The first report of a reserved trace ends its reservation and settles the sum of its new attempts' costs on the
        reservation's day; later ones add theirs. Where the reservation had expired, and so was settled at its
        amount, the first report puts the actual costs in its place. One without attempts settles at nothing, which is
        how to give a reservation back. A trace that was never reserved has no day, and costs nothing.

        Kept with the trace, before or after it is written: a report with a new attempt, its new ones alone, or with an
        outcome not told before. A trace of `until_report` is removed, with its reports, and not written later.
        """

    async def write_traces(self, traces: Sequence[Trace]) -> None:
        """Writes a batch; one that is there already stays as it is."""

    async def trace(self, trace_id: str) -> StoredTrace | None:
        """One trace with its reports."""

    async def traces(self, query: TraceQuery, cursor: str, limit: int) -> TracePage:
        """A page, newest first. Raises ValueError for a cursor that was not made here."""

    async def keep_catalog(self, version: str, body: bytes) -> None:
        """Keeps a body by its version, a catalogue or figures alike, for as long as a trace refers to it.

        That is until the last to expire of the traces written for it has, and at least GRACE_MS from the first sweep.
        What is kept already stays as it is: a version names one body only.
        """

    async def catalog(self, version: str) -> bytes | None:
        """A kept body."""

    async def states(self, since: int) -> tuple[State, ...]:
        """Every state whose version is greater than `since`, by version ascending; 0 gives all.

        Versions are one growing number over all keys, so who asks with the last that it saw misses nothing. They start
        from the clock: a store that lost what it had goes on above what was seen of it, where clocks are sound.
        """

    async def swap(self, changes: Sequence[State]) -> tuple[Swapped, ...]:
        """Writes each change for which the kept version is its `version` (0: none is kept), in their order.

        Each is atomic by itself and durable when it returns; of a call that is lost some may have been made. It may
        simply be tried again: where a change had been made though its answer was lost, the answer then is made=False
        and a state whose body equals ours. That may be so at the first try too, since a store tries again by itself
        where a connection breaks. At most SWAPS_MAX changes. States stay for good, those of an empty body too.
        """

    async def sweep(self, now: int, keep: str, limit: int) -> Swept:
        """Removes at most `limit` expired traces with their reports, and as many versions that no trace refers to.

        `keep` is the catalogue that serves now, which stays, for GRACE_MS after the last such sweep too. It goes in
        small steps with pauses between them, so that it hinders nothing, and may take minutes. What is no longer
        remembered (see the constants above) goes too; versions go when no expired trace is left.
        """
