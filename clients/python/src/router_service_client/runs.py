"""Run: what came of a request, with its decision, attempts and report; and what its sync and async loops share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from router_service_client.attempts import Answered, Failed, Step, Try
from router_service_client.failover import MAX_ATTEMPTS, Failover
from router_service_client.observed import seen_of_exception
from router_service_client.runtime import Clocks
from router_service_client.seen import ACCEPTANCE_FAILED, BROKEN_OFF, CANCELLED, Seen
from router_service_client.time_budget import spendable_ms
from router_service_client.v1.report_pb2 import Attempt, Report
from router_service_client.v1.route_pb2 import Candidate, Decision, Refusal, RouteRequest
from router_service_client.v1.router_service_pb2 import DecideResponse

T = TypeVar("T")
REFUSED = "refused"


class NotAnswered(Exception):
    """Raised by `Run.answer()`: no endpoint brought an answer that was accepted; `run` tells all of it."""

    def __init__(self, run: Run[Any]) -> None:
        tried = ", ".join(f"{one.endpoint_id} ({_what(one)})" for one in run.attempts) or "none"
        told = run.refusal.message if run.refusal else f"tried: {tried}"
        super().__init__(f"{run.outcome}: {told}")
        self.run = run


def _what(attempt: Attempt) -> str:
    told = (attempt.failure_class, str(attempt.status_code or ""), attempt.error_code)
    return " ".join(one for one in told if one) or "answered"


@dataclass(frozen=True, slots=True)
class Run(Generic[T]):
    """What came of a request.

    Attributes:
        outcome: `accepted`, `rejected` (the last answer failed acceptance), `failed`, `deadline_exhausted`,
            `ambiguous` (it is not known whether the request was carried out), `cancelled`; or `refused`, where the
            decision was a refusal and nothing was tried.
        result: what the call returned; None unless accepted.
        decision: the failover list and why.
        refusal: the refusal in its place.
        attempts: what was tried, in order, as reported.
        report: what the service is told in the background; None of a refusal or an inline request.
        failure: what was seen of the last attempt that failed, for a proxy to pass on.
    """

    outcome: str
    result: T | None
    decision: Decision | None
    refusal: Refusal | None
    attempts: tuple[Attempt, ...]
    report: Report | None
    failure: Seen | None

    def answer(self) -> T:
        """The result. Raises NotAnswered where there is none."""
        if self.outcome != "accepted":
            raise NotAnswered(self)
        return self.result  # type: ignore[return-value] # accepted: it is what the call returned, None included


class Course(Generic[T]):
    """One run under way: its loop and what it brought so far."""

    def __init__(
        self,
        asked: RouteRequest,
        answer: DecideResponse,
        begun: float,
        runtime: Clocks,
        *,
        replayable: bool,
        can_call: Callable[[Candidate], bool] | None = None,
    ) -> None:
        self._answer = answer
        self.failover = Failover(
            candidates=[one for one in answer.decision.candidates if can_call is None or can_call(one)],
            runtime=runtime,
            begun=begun,
            spendable_ms=_spendable(asked, answer.decision),
            max_attempts=asked.max_attempts or MAX_ATTEMPTS,
            replayable=replayable,
            decision=answer.decision,
        )
        self._steps = self.failover.steps()
        self._refused = not answer.HasField("decision")
        self.outcome = ""
        self.result: T | None = None
        self.failure: Seen | None = None
        self.error: BaseException | None = None

    def next(self, ended: Answered | Failed | None = None) -> Step | None:
        """What to do next, after what came of the step before; None at the end, with the outcome set."""
        if self._refused:
            self.outcome = REFUSED
            return None
        try:
            return self._steps.send(ended)
        except StopIteration as done:
            self.outcome = done.value
            return None

    def answered(self, result: T, why_not: str | None, *, checked: bool) -> Answered | Failed:
        """What an answer means, with what acceptance, where it was `checked`, has against it.

        Raises TypeError for an acceptance that says it in no words.
        """
        if not isinstance(why_not, str | None):
            text = (
                f"accept says in words what it has against an answer, or nothing; it returned {type(why_not).__name__}"
            )
            raise TypeError(text)
        if why_not:
            self.failure = Seen(ACCEPTANCE_FAILED, why=why_not)
            return Failed(self.failure)
        self.result = result
        return Answered("accepted" if checked else "")

    def failed(self, error: BaseException, attempt: Try | None) -> Failed:
        """What an exception of a call or of a wait means; what is no failure of a call is kept, to be raised again."""
        seen = seen_of_exception(error)
        if seen is None or not isinstance(error, Exception):
            self.error = error
            seen = Seen(CANCELLED)
        elif attempt is not None and attempt.passed_on and seen.kind != CANCELLED:
            seen = Seen(BROKEN_OFF, why=seen.why)
        self.failure = seen
        return Failed(seen)

    def ended(self, operation_id: str, *, reported: bool) -> Run[T]:
        """The run as a whole. A fault of the caller's own makes it `failed`, and counts against no endpoint."""
        outcome = "failed" if isinstance(self.error, Exception) else self.outcome
        attempts = tuple(self.failover.attempts)
        report = None
        if reported and not self._refused:
            trace_id = self._answer.decision.trace_id
            report = Report(trace_id=trace_id, operation_id=operation_id, attempts=attempts, outcome=outcome)
        return Run(
            outcome=outcome,
            result=self.result,
            decision=None if self._refused else self._answer.decision,
            refusal=self._answer.refusal if self._refused else None,
            attempts=attempts,
            report=report,
            failure=self.failure,
        )


def _spendable(asked: RouteRequest, decision: Decision) -> int | None:
    """What can be spent on attempts, in ms: of the request's deadline, or of the workload's where that is shorter.

    Allowances are rounded down, so that they add up to at most one less per candidate.
    """
    own = spendable_ms(asked.deadline_ms) if asked.HasField("deadline_ms") else None
    allowed = [one.allowance_ms for one in decision.candidates if one.HasField("allowance_ms")]
    if not allowed or (own is not None and own < sum(allowed) + len(allowed)):
        return own
    return sum(allowed)
