"""Daily budgets: a decision is made within what is left of the day, and reserves what it may cost.

The check and the reservation are one atomic step of the store (docs/reliability.md, Daily budget). What was left when
last heard of only spares a question to the store: a reservation that does not fit is not made, and the decision is
taken again with what is left.
"""

from __future__ import annotations

import msgspec

from router_service.domain.decision import Decision, Refusal
from router_service.domain.meanings import shown_instant
from router_service.domain.money import MILLION
from router_service.domain.policy import Policy
from router_service.domain.request import RouteRequest
from router_service.engine.cache import Bounded
from router_service.engine.decide import decide
from router_service.engine.held import Held
from router_service.engine.index import Index
from router_service.policies.days import Calendar, Day
from router_service.policies.leases import Leases
from router_service.policies.refuse import BUDGET_EXCEEDED, refuse
from router_service.policies.retention import REPORT_WINDOW_MS
from router_service.store.interface import Report, Reservation, Reserved, Spending, Store, StoreLost

# Others may spend between a decision and its reservation; each time it is taken again with what is left then.
_TRIES = 16
_UNHEARD_MAX = 10_000


class Budgeted(msgspec.Struct, frozen=True):
    """A result under a budget.

    `max_cost` (millionths) is the limit that the budget set for it, where it set one, `reserved` (10⁻¹²) what it holds.
    """

    result: Decision | Refusal
    max_cost: int | None = None
    reserved: int = 0


class Budgets:
    """Decides under daily budgets kept in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._calendar = Calendar()
        self.leases = Leases(store)
        # What was spent when last heard of, by policy: a hint, never a ground for a refusal.
        self._heard: dict[str, tuple[str, Spending]] = {}
        # Refused for a lost store, which may have made the reservation all the same: trace and policy.
        self._unheard: Bounded[str, str] = Bounded(_UNHEARD_MAX)

    async def give_back(self, now: int) -> None:
        """Gives back what may have been reserved for requests that were refused for a lost store. Raises StoreLost."""
        for trace_id, policy_id in list(self._unheard.items()):
            nothing = Report(trace_id=trace_id, policy_id=policy_id, at=now, outcome="failed", attempts=())
            await self._store.report(nothing)
            del self._unheard[trace_id]

    async def today(self, policy: Policy, now: int) -> Spending:
        """What the store says is spent of the policy's day. Raises StoreLost."""
        return await self._ask(policy, self._calendar.day_of(policy.time_zone, now))

    def decide_at_once(
        self, index: Index, policy: Policy, request: RouteRequest, now: int, held: Held, trace_id: str
    ) -> Budgeted | None:
        """The same as `decide`, out of a lease that holds enough; None where there is none such."""
        budget = (policy.daily_budget or 0) * MILLION
        day = self._calendar.day_of(policy.time_zone, now)
        lease = self.leases.of(policy.policy_id, day, budget, now)
        if lease is None:
            return None
        left, narrowed = lease.rest + lease.left, request
        if not _is_plain(request):
            ample = _ample(index, request)
            if ample * MILLION > left:
                return None  # near the end of the budget, where what is left may take candidates away
            if request.max_cost is None or request.max_cost > ample:
                narrowed = msgspec.structs.replace(request, max_cost=ample)
        result = decide(index, policy, narrowed, now, held)
        if not isinstance(result, Decision):
            return None
        amount = _amount(result, policy, request)
        if amount > lease.left:
            return None
        limit = None if narrowed is request else left // MILLION
        lease.take(trace_id, amount, now)
        self.leases.reserved(policy.policy_id, day, budget, amount, now, None)
        return Budgeted(result, limit, amount)

    async def decide(
        self, index: Index, policy: Policy, request: RouteRequest, now: int, held: Held, trace_id: str
    ) -> Budgeted:
        """A decision whose reservation is made, or a refusal that reserves nothing."""
        day = self._calendar.day_of(policy.time_zone, now)
        try:
            return await self._decide(index, policy, request, now, held, trace_id, day)
        except StoreLost:
            if policy.budget_fail_open:
                return Budgeted(decide(index, policy, request, now, held))
            # It may have been reserved without anybody hearing of it.
            self._unheard[trace_id] = policy.policy_id
            message = f"The budget of policy {policy.policy_id} cannot be checked: its store is lost."
            return Budgeted(refuse(index, policy, request, BUDGET_EXCEEDED, message))

    async def _decide(
        self, index: Index, policy: Policy, request: RouteRequest, now: int, held: Held, trace_id: str, day: Day
    ) -> Budgeted:
        budget = (policy.daily_budget or 0) * MILLION
        date, spending = self._heard.get(policy.policy_id, ("", Spending()))
        certain = False
        if date != day.date:
            spending, certain = await self._ask(policy, day), True
        for _ in range(_TRIES):
            left = budget - spending.total
            narrowed = _within(index, request, left)
            result = decide(index, policy, narrowed, now, held) if left > 0 else None
            free = decide(index, policy, request, now, held) if narrowed is not request else result
            if isinstance(result, Refusal) and isinstance(free, Refusal):
                return Budgeted(free)  # the budget has no part in it
            over = certain
            if isinstance(result, Decision) and (certain or not _takes_away(index, request, narrowed, result, free)):
                reserved = await self._reserve(result, policy, narrowed, now, trace_id, day, budget)
                if reserved.made:
                    limit = None if narrowed is request else left // MILLION
                    return Budgeted(result, limit, _amount(result, policy, request))
                # Where the request says too little, what it reserves does not depend on what is left.
                spending, certain, over = reserved.spending, True, _is_plain(request)
            if over and not await self.leases.give_back(policy.policy_id):
                break
            if over or not certain:
                # What was heard last may be too much by now, and must neither refuse nor take candidates away.
                spending, certain = await self._ask(policy, day), True
        ends = shown_instant(day.ends_at)
        what = "is spent" if spending.total >= budget else "has too little left for this request"
        message = f"The budget of policy {policy.policy_id} for {day.date} {what}; the day ends at {ends}."
        return Budgeted(refuse(index, policy, request, BUDGET_EXCEEDED, message, day.ends_at))

    async def _ask(self, policy: Policy, day: Day) -> Spending:
        spending = await self._store.spending(policy.policy_id, day.date)
        self._heard[policy.policy_id] = (day.date, spending)
        return spending

    async def _reserve(
        self,
        decision: Decision,
        policy: Policy,
        request: RouteRequest,
        now: int,
        trace_id: str,
        day: Day,
        budget: int,
    ) -> Reserved:
        """Reserves what the decision may cost."""
        amount = _amount(result=decision, policy=policy, request=request)
        reserved = await self._store.reserve(
            Reservation(
                trace_id=trace_id,
                policy_id=policy.policy_id,
                day=day.date,
                amount=amount,
                budget=budget,
                at=now,
                expires_at=now + REPORT_WINDOW_MS,
            )
        )
        self._heard[policy.policy_id] = (day.date, reserved.spending)
        if reserved.made:
            self.leases.reserved(policy.policy_id, day, budget, amount, now, reserved.spending)
        return reserved


def _takes_away(
    index: Index, request: RouteRequest, narrowed: RouteRequest, result: Decision, free: Decision | Refusal | None
) -> bool:
    """Whether what is left of the budget, and nothing else, takes candidates away."""
    if narrowed is request or narrowed.max_cost == _ample(index, request):
        return False
    return isinstance(free, Decision) and free.excluded != result.excluded


def _amount(result: Decision, policy: Policy, request: RouteRequest) -> int:
    """What the dearest candidate may cost, or the policy's default where the request does not count its tokens."""
    if _is_plain(request):
        return policy.default_reservation * MILLION
    return max([one.estimated_cost or 0 for one in result.candidates])


def _is_plain(request: RouteRequest) -> bool:
    """Whether the request says too little for its cost to be estimated."""
    return request.input_tokens is None or request.output_tokens is None


def _within(index: Index, request: RouteRequest, left: int) -> RouteRequest:
    """The request held to what is left (10⁻¹²), where its cost can be estimated and it is not held lower already.

    Where more is left than any endpoint may cost, the limit is the least that says so: the engine answers the same,
    and finds what it remembers however the day's spending grows.
    """
    limit = left // MILLION
    if _is_plain(request) or (request.max_cost is not None and request.max_cost <= limit):
        return request
    return msgspec.structs.replace(request, max_cost=max(min(limit, _ample(index, request)), 0))


def _ample(index: Index, request: RouteRequest) -> int:
    return index.costs.ample(request.input_tokens or 0, request.output_tokens or 0)
