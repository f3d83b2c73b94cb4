"""The application: one path that every door uses, (caller, request) → answer.

A door (gRPC, Envoy, the command line) finds who calls, turns what it gets into an `Ask` and what it is given into its
own form; no rule and no policy lives anywhere but behind this file. What is not the caller's is not there for it.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass

import msgspec

from router_service.asks import (
    Answer,
    Ask,
    CatalogNotLoaded,
    EndpointNotListed,
    Explained,
    InvalidRequest,
    Memory,
    NoStore,
    StatelessModeOff,
    StoreUnavailable,
    TraceNotFound,
)
from router_service.catalog.served import Served
from router_service.catalog.slices import unhurried
from router_service.catalog.snapshot import Snapshot
from router_service.domain.caller import Caller
from router_service.domain.decision import Decision, Explanation, Refusal
from router_service.domain.overlay import NOTHING_DIFFERS
from router_service.domain.problems import Problem
from router_service.domain.report import OutcomeReport
from router_service.engine.decide import decide
from router_service.engine.explain import explain_in_slices
from router_service.engine.held import NOTHING, Held
from router_service.ground import Ground, inline_ground, served_ground
from router_service.health.shared import SharedHealth
from router_service.policies.budgets import Budgets
from router_service.policies.data_classes import objection
from router_service.policies.refuse import BUDGET_EXCEEDED, DATA_CLASS_NOT_ALLOWED, refuse
from router_service.sight import Sight
from router_service.store.interface import StoredTrace, StoreLost, Taken, TracePage, TraceQuery
from router_service.telling import Teller, figures_of
from router_service.traces.record import Record
from router_service.traces.reports import Settled, UnknownTrace, UnlistedEndpoint

_IDS_AT_ONCE = 64


def random_trace_ids() -> Iterator[str]:
    """Ids of 32 random hex digits, without end; the system is asked for many at once."""
    while True:
        digits = secrets.token_hex(16 * _IDS_AT_ONCE)
        for start in range(0, len(digits), 32):
            yield digits[start : start + 32]


@dataclass(slots=True)
class Turn:
    """One decision under way: `held` are the endpoints that it may not list, `places` those at which it has one."""

    caller: Caller
    ground: Ground
    ask: Ask
    now: int
    trace_id: str
    held: Held
    places: Collection[str] = ()


class Router:
    """Answers asks on the served snapshot. `clock` gives the instant in ms, `new_trace_id` an id for each decision."""

    def __init__(
        self,
        served: Served,
        clock: Callable[[], int],
        *,
        new_trace_id: Callable[[], str] | None = None,
        stateless: bool = False,
        memory: Memory | None = None,
        health: SharedHealth | None = None,
        settled: Callable[[Settled], None] = lambda _: None,
    ) -> None:
        """`settled` is told of every report that was taken."""
        self._served = served
        self._clock = clock
        self._new_trace_id = new_trace_id or random_trace_ids().__next__
        self._stateless = stateless
        self._memory = memory
        self._health = health or SharedHealth()
        self._settled = settled
        self._sight = Sight()
        self._teller = None if memory is None else Teller(served, memory, self._sight)

    def decide(self, caller: Caller, ask: Ask) -> Answer | Awaitable[Answer]:
        """Where the request may go; to be awaited where a store must be asked. Raises Unanswerable."""
        ground = self._ground(caller, ask)
        now, trace_id = self._clock(), self._new_trace_id()
        turn = Turn(caller, ground, ask, now, trace_id, NOTHING)
        refusal = self._early_refusal(ground, ask)
        if refusal is not None:
            return self._answer(turn, refusal)
        if ask.inline is not None:
            return self._answer(turn, decide(ground.index, ground.policy, ground.request, now))
        on_budget = ground.policy.daily_budget is not None
        if on_budget and self._health.is_quiet:
            return self._decide_on_budget(turn)
        turn.held = self._health.held(ground.index, now)
        result = decide(ground.index, ground.policy, ground.request, now, turn.held)
        probed = self._health.probed(result, now)
        if probed:
            return self._decide_with_places(turn, probed)
        return self._decide_on_budget(turn) if on_budget else self._answer(turn, result)

    async def explain(self, caller: Caller, ask: Ask, pause_s: float = 0.0) -> Explained:
        """The decision that `decide` would take, told in full; changes nothing. Raises Unanswerable.

        A budget is not asked: what is left of it is another matter with every decision. `pause_s` is how long others
        have their turn after each slice of the work.
        """
        ground = self._ground(caller, ask)
        now = self._clock()
        refusal = self._early_refusal(ground, ask)
        if refusal is not None:
            return Explained(Explanation(refusal, ()), ground.version, now, joined=ground.joined)
        held = NOTHING if ask.inline is not None else self._health.held(ground.index, now)
        told = await unhurried(explain_in_slices(ground.index, ground.policy, ground.request, now, held), pause_s)
        if ground.snapshot is None:
            return Explained(told, ground.version, now)
        told, hidden = self._sight.seen(caller, ground.snapshot, told)
        figures = dict(figures_of(told, ground.snapshot, held, now))
        return Explained(told, ground.version, now, joined=ground.joined, figures=figures, hidden=hidden)

    async def explain_trace(self, caller: Caller, trace_id: str, pause_s: float = 0.0) -> Explained:
        """A decision or refusal told again on the catalogue that it was made on. Raises Unanswerable."""
        if self._teller is None:
            raise NoStore
        return await self._teller.explain(caller, (await self.trace(caller, trace_id)).trace, pause_s)

    async def report(self, caller: Caller, report: OutcomeReport, *, patient: bool = True) -> Taken:
        """Takes what came of a decision, durably; a report that comes again changes nothing. Raises Unanswerable.

        `patient` is whether to wait a moment for a trace that another instance may be about to write.
        """
        reports, now = self._remembered().reports, self._clock()
        try:
            settled = await reports.take(caller, report, now, patient=patient)
        except UnknownTrace:
            raise TraceNotFound(report.trace_id) from None
        except UnlistedEndpoint as unlisted:
            raise EndpointNotListed(unlisted.problems) from None
        except StoreLost:
            raise StoreUnavailable from None
        snapshot, trace = self._served.snapshot, settled.trace
        self._health.learn(
            report,
            settled.taken.new,
            decided_at=trace.at,
            now=now,
            index=None if snapshot is None else snapshot.index,
            needs=lambda: self._remembered().codec.read_needs(trace.answer),
        )
        self._settled(settled)
        return settled.taken

    async def trace(self, caller: Caller, trace_id: str) -> StoredTrace:
        """A decision or refusal as it was made, with its reports. Raises Unanswerable."""
        reports = self._remembered().reports
        try:
            return await reports.find(caller, trace_id)
        except UnknownTrace:
            raise TraceNotFound(trace_id) from None
        except StoreLost:
            raise StoreUnavailable from None

    async def traces(self, caller: Caller, query: TraceQuery, cursor: str, limit: int) -> TracePage:
        """Decisions and refusals under the caller's policies, newest first. Raises Unanswerable."""
        memory = self._remembered()
        if caller.policies is not None:
            query = msgspec.structs.replace(query, policies=tuple(sorted(caller.policies)))
        try:
            await memory.recorder.flush()
            return await memory.store.traces(query, cursor, limit)
        except ValueError:
            problem = Problem(
                "page_token", "it was not made here", "use the next_page_token of a page as it is, or none"
            )
            raise InvalidRequest([problem]) from None
        except StoreLost:
            raise StoreUnavailable from None

    def endpoints(self, caller: Caller, snapshot: Snapshot) -> int:
        """The set of the endpoints of a snapshot that the caller sees."""
        return self._sight.endpoints(caller, snapshot)

    def catalog(self) -> Snapshot:
        """The snapshot served now. Raises CatalogNotLoaded."""
        snapshot = self._served.snapshot
        if snapshot is None:
            raise CatalogNotLoaded
        return snapshot

    def _decide_with_places(self, turn: Turn, probed: list[str]) -> Answer | Awaitable[Answer]:
        """A decision that may list half-open endpoints, as far as it gets a place at them."""
        taken = self._health.take(probed, turn.trace_id, turn.now)
        return self._with_places(turn, taken) if isinstance(taken, set) else self._with_awaited_places(turn, taken)

    async def _with_awaited_places(self, turn: Turn, places: Awaitable[set[str]]) -> Answer:
        answer = self._with_places(turn, await places)
        return answer if isinstance(answer, Answer) else await answer

    def _with_places(self, turn: Turn, places: set[str]) -> Answer | Awaitable[Answer]:
        ground, turn.places = turn.ground, places
        if ground.policy.daily_budget is not None:
            return self._decide_on_budget(turn)
        turn.held = self._health.all_held(ground.index, places, turn.now)
        return self._answer(turn, decide(ground.index, ground.policy, ground.request, turn.now, turn.held))

    def _decide_on_budget(self, turn: Turn) -> Answer | Awaitable[Answer]:
        """A decision within what is left of the day; only where its lease holds enough the store need not be asked."""
        ground = turn.ground
        # What is left may bring other candidates to the list, and none of them may be half-open without a place.
        if not self._health.is_quiet:
            turn.held = self._health.all_held(ground.index, turn.places, turn.now)
        if self._memory is None:
            message = f"The budget of policy {ground.policy.policy_id} cannot be kept: the server has no store."
            if ground.policy.budget_fail_open:
                return self._answer(turn, decide(ground.index, ground.policy, ground.request, turn.now, turn.held))
            return self._answer(turn, refuse(ground.index, ground.policy, ground.request, BUDGET_EXCEEDED, message))
        budgeted = self._memory.budgets.decide_at_once(
            ground.index, ground.policy, ground.request, turn.now, turn.held, turn.trace_id
        )
        if budgeted is not None:
            return self._answer(turn, budgeted.result, budgeted.max_cost, budgeted.reserved)
        return self._with_asked_budget(turn, self._memory.budgets)

    async def _with_asked_budget(self, turn: Turn, budgets: Budgets) -> Answer:
        ground = turn.ground
        budgeted = await budgets.decide(ground.index, ground.policy, ground.request, turn.now, turn.held, turn.trace_id)
        return self._answer(turn, budgeted.result, budgeted.max_cost, budgeted.reserved)

    def _answer(
        self, turn: Turn, result: Decision | Refusal, budget_max_cost: int | None = None, reserved: int = 0
    ) -> Answer:
        ground, ask = turn.ground, turn.ask
        if turn.places:
            listed = {one.endpoint_id for one in result.candidates} if isinstance(result, Decision) else ()
            self._health.leave(turn.trace_id, turn.now, listed)
        if self._memory is not None and ask.inline is None:
            self._memory.recorder.record(
                Record(
                    trace_id=turn.trace_id,
                    now=turn.now,
                    policy=ground.policy,
                    catalog_version=ground.version,
                    request=ground.request,
                    result=result,
                    data_class=ask.data_class,
                    operation_id=ask.operation_id,
                    budget_max_cost=budget_max_cost,
                    reserved=reserved,
                    joined=ground.joined,
                    overlay=NOTHING_DIFFERS if ground.snapshot is None else ground.snapshot.overlay,
                    held=turn.held.by_id(ground.index) if turn.held.bits else {},
                    caller=turn.caller.caller,
                )
            )
        return Answer(result, turn.trace_id, ground.version, turn.now)

    def _early_refusal(self, ground: Ground, ask: Ask) -> Refusal | None:
        message = objection(ground.policy, ask.data_class)
        if not message:
            return None
        return refuse(ground.index, ground.policy, ground.request, DATA_CLASS_NOT_ALLOWED, message)

    def _ground(self, caller: Caller, ask: Ask) -> Ground:
        if ask.inline is None:
            return served_ground(caller, ask, self.catalog())
        if not (self._stateless and caller.stateless):
            raise StatelessModeOff
        return inline_ground(ask, ask.inline)

    def _remembered(self) -> Memory:
        if self._memory is None:
            raise NoStore
        return self._memory
