"""The application: one path that every door uses, from a request to its answer.

A door (gRPC, Envoy, the command line) turns what it gets into an `Ask` and what it is given into its own form; no
rule and no policy lives anywhere but behind this file.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator

import msgspec

from router_service.asks import (
    Answer,
    Ask,
    CatalogNotKept,
    CatalogNotLoaded,
    EndpointNotListed,
    Explained,
    Inline,
    InvalidRequest,
    Memory,
    NoDefaultPolicy,
    NoStore,
    PolicyNotFound,
    StatelessModeOff,
    StoreUnavailable,
    TraceNotFound,
)
from router_service.catalog.archive import unpack
from router_service.catalog.served import Served
from router_service.catalog.slices import unhurried
from router_service.catalog.snapshot import Snapshot
from router_service.domain.decision import Decision, Explanation, Refusal
from router_service.domain.policy import Policy
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.report import OutcomeReport
from router_service.engine.cache import Bounded
from router_service.engine.decide import decide
from router_service.engine.explain import explain_in_slices
from router_service.engine.index import Index
from router_service.policies.data_classes import objection
from router_service.policies.refuse import BUDGET_EXCEEDED, DATA_CLASS_NOT_ALLOWED, refuse
from router_service.store.interface import StoredTrace, StoreLost, Taken, TracePage, TraceQuery
from router_service.traces.record import Record, context_of
from router_service.traces.reports import UnknownTrace, UnlistedEndpoint

_IDS_AT_ONCE = 64
_OLD_SNAPSHOTS = 4  # versions that traces were explained on, kept compiled


def random_trace_ids() -> Iterator[str]:
    """Ids of 32 random hex digits, without end; the system is asked for many at once."""
    while True:
        digits = secrets.token_hex(16 * _IDS_AT_ONCE)
        for start in range(0, len(digits), 32):
            yield digits[start : start + 32]


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
    ) -> None:
        self._served = served
        self._clock = clock
        self._new_trace_id = new_trace_id or random_trace_ids().__next__
        self._stateless = stateless
        self._memory = memory
        self._old: Bounded[str, Snapshot] = Bounded(_OLD_SNAPSHOTS)

    def decide(self, ask: Ask) -> Answer | Awaitable[Answer]:
        """Where the request may go; to be awaited where a budget must be asked. Raises Unanswerable."""
        ground = self._ground(ask)
        now, trace_id = self._clock(), self._new_trace_id()
        policy, request = ground.policy, ask.request
        refusal = self._early_refusal(ground, ask)
        if refusal is not None:
            return self._answer(ground, ask, now, trace_id, refusal)
        if policy.daily_budget is not None and ask.inline is None:
            return self._decide_on_budget(ground, ask, now, trace_id)
        return self._answer(ground, ask, now, trace_id, decide(ground.index, policy, request, now))

    async def explain(self, ask: Ask) -> Explained:
        """The decision that `decide` would take, told in full; changes nothing. Raises Unanswerable.

        A budget is not asked: what is left of it is another matter with every decision.
        """
        ground = self._ground(ask)
        now = self._clock()
        refusal = self._early_refusal(ground, ask)
        if refusal is not None:
            return Explained(Explanation(refusal, ()), ground.version, now)
        told = await unhurried(explain_in_slices(ground.index, ground.policy, ask.request, now), pause_s=0)
        return Explained(told, ground.version, now)

    async def explain_trace(self, trace_id: str) -> Explained:
        """A decision or refusal told again on the catalogue that it was made on. Raises Unanswerable."""
        memory = self._remembered()
        trace = (await self.trace(trace_id)).trace
        snapshot = await self._snapshot_of(trace.catalog_version)
        asked, context = memory.codec.read_request(trace.request), context_of(trace)
        policy = None if snapshot is None else snapshot.policies.get(asked.policy_id)
        if snapshot is None or policy is None:
            raise CatalogNotKept(trace.catalog_version)
        request = asked.request
        if context.message:
            told = refuse(snapshot.index, policy, request, trace.outcome, context.message, context.retry_at)
            return Explained(Explanation(told, ()), trace.catalog_version, trace.at, trace_id)
        if context.budget_max_cost is not None:
            request = msgspec.structs.replace(request, max_cost=context.budget_max_cost)
        explanation = await unhurried(explain_in_slices(snapshot.index, policy, request, trace.at), pause_s=0)
        return Explained(explanation, trace.catalog_version, trace.at, trace_id)

    async def report(self, report: OutcomeReport) -> Taken:
        """Takes what came of a decision, durably; a report that comes again changes nothing. Raises Unanswerable."""
        reports = self._remembered().reports
        try:
            return await reports.take(report, self._clock())
        except UnknownTrace:
            raise TraceNotFound(report.trace_id) from None
        except UnlistedEndpoint as unlisted:
            raise EndpointNotListed(unlisted.problems) from None
        except StoreLost as lost:
            raise StoreUnavailable(lost) from None

    async def trace(self, trace_id: str) -> StoredTrace:
        """A decision or refusal as it was made, with its reports. Raises Unanswerable."""
        reports = self._remembered().reports
        try:
            return await reports.find(trace_id)
        except UnknownTrace:
            raise TraceNotFound(trace_id) from None
        except StoreLost as lost:
            raise StoreUnavailable(lost) from None

    async def traces(self, query: TraceQuery, cursor: str, limit: int) -> TracePage:
        """Decisions and refusals, newest first. Raises Unanswerable."""
        memory = self._remembered()
        try:
            await memory.recorder.flush()
            return await memory.store.traces(query, cursor, limit)
        except ValueError:
            problem = Problem(
                "page_token", "it was not made here", "use the next_page_token of a page as it is, or none"
            )
            raise InvalidRequest([problem]) from None
        except StoreLost as lost:
            raise StoreUnavailable(lost) from None

    def catalog(self) -> Snapshot:
        """The snapshot served now. Raises CatalogNotLoaded."""
        snapshot = self._served.snapshot
        if snapshot is None:
            raise CatalogNotLoaded
        return snapshot

    async def _decide_on_budget(self, ground: _Ground, ask: Ask, now: int, trace_id: str) -> Answer:
        if self._memory is None:
            message = f"The budget of policy {ground.policy.policy_id} cannot be kept: the server has no store."
            result: Decision | Refusal = refuse(ground.index, ground.policy, ask.request, BUDGET_EXCEEDED, message)
            if ground.policy.budget_fail_open:
                result = decide(ground.index, ground.policy, ask.request, now)
            return self._answer(ground, ask, now, trace_id, result)
        budgeted = await self._memory.budgets.decide(ground.index, ground.policy, ask.request, now, trace_id)
        return self._answer(ground, ask, now, trace_id, budgeted.result, budgeted.max_cost, budgeted.reserved)

    def _answer(
        self,
        ground: _Ground,
        ask: Ask,
        now: int,
        trace_id: str,
        result: Decision | Refusal,
        budget_max_cost: int | None = None,
        reserved: int = 0,
    ) -> Answer:
        if self._memory is not None and ask.inline is None:
            self._memory.recorder.record(
                Record(
                    trace_id=trace_id,
                    now=now,
                    policy=ground.policy,
                    catalog_version=ground.version,
                    request=ask.request,
                    result=result,
                    data_class=ask.data_class,
                    operation_id=ask.operation_id,
                    budget_max_cost=budget_max_cost,
                    reserved=reserved,
                )
            )
        return Answer(result, trace_id, ground.version, now)

    def _early_refusal(self, ground: _Ground, ask: Ask) -> Refusal | None:
        message = objection(ground.policy, ask.data_class)
        if not message:
            return None
        return refuse(ground.index, ground.policy, ask.request, DATA_CLASS_NOT_ALLOWED, message)

    def _ground(self, ask: Ask) -> _Ground:
        """What the decision stands on: one index, one policy, one version."""
        if ask.inline is not None:
            return self._inline_ground(ask.inline, ask.policy_id)
        snapshot = self.catalog()
        policy_id = ask.policy_id or snapshot.content.default_policy
        if not policy_id:
            raise NoDefaultPolicy
        policy = snapshot.policies.get(policy_id)
        if policy is None:
            raise PolicyNotFound(policy_id)
        return _Ground(snapshot.index, policy, snapshot.version)

    def _inline_ground(self, inline: Inline, policy_id: str) -> _Ground:
        if not self._stateless:
            raise StatelessModeOff
        problems = []
        if policy_id:
            problems.append(
                Problem("policy_id", "an inline policy excludes a served one", "leave out policy_id or inline")
            )
        if inline.policy.daily_budget is not None:
            problems.append(
                Problem("inline.policy.daily_budget", "an inline policy has no budget", "name a served policy")
            )
        if problems:
            raise InvalidRequest(problems)
        try:
            return _Ground(Index(inline.candidates), inline.policy, "")
        except InvalidValue as invalid:
            raise InvalidRequest(problem.under("inline.candidates") for problem in invalid.problems) from None

    async def _snapshot_of(self, version: str) -> Snapshot | None:
        """A version of the catalogue: the one served now, or one that the store keeps."""
        serving = self._served.snapshot
        if serving is not None and serving.version == version:
            return serving
        old = self._old.get(version)
        if old is None:
            try:
                form = await self._remembered().store.catalog(version)
            except StoreLost as lost:
                raise StoreUnavailable(lost) from None
            if form is None:
                return None
            content = await asyncio.to_thread(unpack, form)
            old = self._old[version] = await unhurried(Snapshot.in_slices(content, version, 0), pause_s=0)
        return old

    def _remembered(self) -> Memory:
        if self._memory is None:
            raise NoStore
        return self._memory


class _Ground(msgspec.Struct, frozen=True):
    """What one decision stands on."""

    index: Index
    policy: Policy
    version: str
