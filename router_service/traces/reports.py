"""Reports: what came of a decision is taken once, and settled at the prices of the decision's own catalogue."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from router_service.domain.caller import Caller
from router_service.domain.problems import Problem
from router_service.domain.report import OutcomeReport, ReportedAttempt
from router_service.store.interface import Attempt, Report, Store, StoredTrace, Taken, Trace
from router_service.traces.record import Context, context_of
from router_service.traces.recorder import Recorder

# Where several instances share a store, a report may overtake the trace that another one is about to write.
_OVERTAKEN_S = (0.1, 0.3)


class UnknownTrace(Exception):
    """There is no such trace, or it is no longer kept."""


class UnlistedEndpoint(Exception):
    """A report of endpoints that the decision did not list: attempts outside the policy."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Settled:
    """A report that was taken, the trace that it is of, and what had been reported of that before.

    `costs` is what each attempt settles at, in 10⁻¹², by its id.
    """

    trace: Trace
    taken: Taken
    report: OutcomeReport
    before: tuple[Report, ...]
    costs: Mapping[str, int]

    @property
    def new(self) -> tuple[ReportedAttempt, ...]:
        """The attempts that were not known."""
        return tuple(one for one in self.report.attempts if one.attempt_id in self.taken.new)

    @property
    def ends(self) -> bool:
        """Whether it is the first to tell this outcome of the operation.

        Of two same reports at once, neither of which finds the other, one brings the attempts.
        """
        if self.before:
            return all(one.outcome != self.report.outcome for one in self.before)
        return bool(self.taken.new) or not self.report.attempts

    @property
    def route(self) -> str:
        """The endpoint of the last attempt that is known of the operation; empty where there was none."""
        if self.report.attempts:
            return self.report.attempts[-1].endpoint_id
        before = [attempt.endpoint_id for one in self.before for attempt in one.attempts]
        return before[-1] if before else ""

    @property
    def falls_back(self) -> bool:
        """Whether the answer was accepted from another endpoint than the first of the decision's list."""
        return self.report.outcome == "accepted" and self.route not in ("", *self.trace.endpoints[:1])


class Reports:
    """Takes reports of traces that are pending or stored."""

    def __init__(self, store: Store, recorder: Recorder) -> None:
        self._store, self._recorder = store, recorder

    async def find(self, caller: Caller, trace_id: str) -> StoredTrace:
        """A trace under a policy of the caller's, with its reports. Raises UnknownTrace, or StoreLost."""
        found = await self._look(trace_id)
        if found is None or not caller.may_use(found.trace.policy_id):
            raise UnknownTrace(trace_id)
        return found

    async def _wait_for(self, caller: Caller, trace_id: str, *, patient: bool) -> StoredTrace:
        """One that the caller may report on, with some patience for what another instance is about to write.

        One that it may not is waited for just as one that is not there. Raises UnknownTrace, or StoreLost.
        """
        for pause in (*(_OVERTAKEN_S if patient else ()), None):
            found = await self._look(trace_id)
            if found is not None and _may_report(caller, found.trace):
                return found
            if pause is not None:
                await asyncio.sleep(pause)
        raise UnknownTrace(trace_id)

    async def take(self, caller: Caller, report: OutcomeReport, now: int, *, patient: bool = True) -> Settled:
        """Takes a report; durable when it returns. Raises UnknownTrace, UnlistedEndpoint or StoreLost.

        `patient` is whether to wait a moment for a trace that is not known yet.
        """
        stored = await self._wait_for(caller, report.trace_id, patient=patient)
        trace = stored.trace
        unlisted = [
            Problem(
                f"attempts[{number}].endpoint_id",
                f"the decision did not list {one.endpoint_id}",
                "report only attempts on the decision's candidates; anything else was outside the policy",
            )
            for number, one in enumerate(report.attempts)
            if one.endpoint_id not in trace.endpoints
        ]
        if unlisted:
            raise UnlistedEndpoint(unlisted)
        context = context_of(trace)
        attempts = tuple(
            Attempt(
                attempt_id=one.attempt_id,
                endpoint_id=one.endpoint_id,
                cost=cost_of(one, context),
                body=msgspec.json.encode(one),
            )
            for one in report.attempts
        )
        taken = await self._store.report(
            Report(
                trace_id=report.trace_id,
                policy_id=trace.policy_id,
                at=now,
                outcome=report.outcome,
                attempts=attempts,
                operation_id=report.operation_id,
                caller=caller.caller,
            )
        )
        costs = {one.attempt_id: one.cost for one in attempts}
        return Settled(trace, taken, report, stored.reports, costs)

    async def _look(self, trace_id: str) -> StoredTrace | None:
        if trace_id in self._recorder:
            await self._recorder.flush()
        return await self._store.trace(trace_id)


def _may_report(caller: Caller, trace: Trace) -> bool:
    """Whether a trace is of the caller's own decisions, or of those that it reports for, under its policies."""
    return caller.may_use(trace.policy_id) and caller.may_report_for(context_of(trace).caller)


def cost_of(attempt: ReportedAttempt, context: Context) -> int:
    """What an attempt settles at, in 10⁻¹².

    The cost that the caller gives, else tokens × the decision's prices. Where a success tells no count or only one of
    them, or a price is not documented, at least its estimate (what was reserved, where there is none); where a failure
    does, what its counts make.
    """
    if attempt.cost is not None:
        return attempt.cost
    input_price, output_price, estimate = context.price(attempt.endpoint_id)
    counts = ((attempt.input_tokens, input_price), (attempt.output_tokens, output_price))
    known = sum(count * price for count, price in counts if count and price is not None)
    complete = all(count is not None and (price is not None or not count) for count, price in counts)
    if complete or attempt.failure_class:
        return known
    return max(known, context.reserved if estimate is None else estimate)
