"""The failover loop, without doing anything itself: it says what to do next and is told what came of it.

The order of attempts, their time and the waits between them are those of clients/README.md; RouterClient.run and
AsyncRouterClient.run carry them out.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

from router_service_client import classification
from router_service_client.attempts import Answered, Call, Failed, Step, Try, Wait
from router_service_client.classification import Verdict, classify
from router_service_client.runtime import Clocks
from router_service_client.seen import ACCEPTANCE_FAILED, CANCELLED
from router_service_client.time_budget import allowance_ms, fits, jitter_ms
from router_service_client.v1.report_pb2 import Attempt
from router_service_client.v1.route_pb2 import Candidate, Decision

MAX_ATTEMPTS = 3
AGAIN_WITHIN_MS = 1000
"""An endpoint that could not be reached is tried once more where that became clear within this time."""

# How it ended, by the class of the last attempt.
_OUTCOMES = {"invalid_response": "rejected", "ambiguous": "ambiguous"}


@dataclass(eq=False, slots=True)
class _Place:
    """A candidate and what has become of it; `ready_at` is when its Retry-After is over, in ms of the run."""

    candidate: Candidate
    tried: bool = False
    tried_again: bool = False
    ready_at: int | None = None


@dataclass(slots=True)
class Failover:
    """One run down a decision's candidates.

    Args:
        candidates: those of the decision, best first; nothing else is tried.
        runtime: time and chance.
        begun: when the run began, by the runtime's clock; the time that Decide took is part of it.
        spendable_ms: what could be spent on attempts then; None without a deadline.
        max_attempts: attempts in all, second tries on the same endpoint counted.
        replayable: whether the operation may be sent again where it is not known what became of it.
        decision: what the candidates are of, for calls to look at.
    """

    candidates: Sequence[Candidate]
    runtime: Clocks
    begun: float
    spendable_ms: int | None = None
    max_attempts: int = MAX_ATTEMPTS
    replayable: bool = False
    decision: Decision | None = None
    attempts: list[Attempt] = field(default_factory=list)
    _retries: int = 0
    _window: int = 0
    _short: bool = False
    _last: str = ""
    _places: list[_Place] = field(default_factory=list)
    _again: _Place | None = None

    def steps(self) -> Generator[Step, Answered | Failed | None, str]:
        """What to do, one after the other; each Call is answered by what came of it. Returns the outcome."""
        self._places = [_Place(one) for one in self.candidates]
        while len(self.attempts) < self.max_attempts and (found := self._next()) is not None:
            place, wait = found
            if wait and (yield Wait(wait)) is not None:
                return "cancelled"
            allowed = self._allowance(place, 0)
            if allowed is None and self.spendable_ms is not None:  # it took longer to wake up, or just now
                self._short = True
                continue
            self._retries += place.tried
            place.tried = True
            number, started_at = len(self.attempts) + 1, self.runtime.now()
            attempt = Try(
                place.candidate,
                number,
                allowed,
                self.runtime.clock,
                started_at,
                decision=self.decision,
                rest_ms=self._left(),
            )
            ended = yield Call(attempt)
            if not isinstance(ended, Failed):
                self.attempts.append(attempt.told(None, ended.validation_result if ended else ""))
                return "accepted"
            seen = ended.seen
            verdict = classify(seen, self.runtime.now())
            self.attempts.append(attempt.told(verdict, seen.why if seen.kind == ACCEPTANCE_FAILED else ""))
            self._last = verdict.failure_class
            if seen.kind == CANCELLED:
                return "cancelled"
            if attempt.passed_on or not self._goes_on(place, verdict, attempt):
                return _OUTCOMES.get(self._last, "failed")
        if self._short and len(self.attempts) < self.max_attempts:
            return "deadline_exhausted"
        return _OUTCOMES.get(self._last, "failed")

    def _gone(self) -> int:
        return round((self.runtime.clock() - self.begun) * 1000)

    def _left(self) -> int | None:
        return None if self.spendable_ms is None else self.spendable_ms - self._gone()

    def _fresh(self) -> Iterator[_Place]:
        """Those not tried yet that may be, down the list."""
        return (one for one in self._places if not one.tried and self._is_wide_enough(one))

    def _is_wide_enough(self, place: _Place) -> bool:
        """After a request was too long for a window, only a window known to be larger will do."""
        return place.candidate.context_window > self._window if self._window else True

    def _allowance(self, place: _Place, wait: int) -> int | None:
        """How long an attempt may take after the wait; None where it does not fit, and without a deadline."""
        left = self._left()
        if left is None:
            return None
        needs = [place.candidate.need_ms, *(one.candidate.need_ms for one in self._later(place))]
        return allowance_ms(left - wait, needs, self.max_attempts - len(self.attempts))

    def _later(self, place: _Place) -> Iterator[_Place]:
        return (one for one in self._fresh() if one is not place)

    def _has_time(self, place: _Place, wait: int) -> bool:
        return self.spendable_ms is None or self._allowance(place, wait) is not None

    def _next(self) -> tuple[_Place, int] | None:
        """The next to be tried, and how long to wait before; None where nobody is left."""
        again, self._again = self._again, None
        if again is not None:
            wait = jitter_ms(self._retries, self.runtime.random())
            if self._has_time(again, wait):
                return again, wait
            self._short = True
        for place in self._fresh():
            if self._has_time(place, 0):
                return place, 0
            self._short = True
            place.tried = True  # time only gets shorter
        return self._postponed()

    def _postponed(self) -> tuple[_Place, int] | None:
        """With nobody else left: the first that is ready of those that asked for a pause which fits the time left."""
        gone, left = self._gone(), self._left()
        waiting = [(place.ready_at, place) for place in self._places if place.ready_at is not None]
        for ready_at, place in sorted(waiting, key=lambda one: one[0]):
            wait = max(0, ready_at - gone)
            place.ready_at = None
            if self._is_wide_enough(place) and fits(wait, place.candidate.need_ms, left):
                return place, wait
        return None

    def _goes_on(self, place: _Place, verdict: Verdict, attempt: Try) -> bool:
        """Notes what the verdict means for the candidates; whether anything may be tried after it."""
        match verdict.then:
            case classification.STOP:
                return False
            case classification.NEXT_IF_REPLAYABLE:
                return self.replayable
            case classification.NEXT_LARGER_CONTEXT:
                # Where this one's window is not known, none is known to be larger.
                self._window = max(self._window, place.candidate.context_window or 2**32)
            case classification.SAME_ONCE if attempt.latency_ms < AGAIN_WITHIN_MS and not place.tried_again:
                place.tried_again = True
                self._again = place
            case classification.NEXT_ELSE_SAME if verdict.retry_after_ms is not None:
                place.ready_at = self._gone() + verdict.retry_after_ms
        return True
