"""Caller: makes the attempts of a decision, by the classes, the time budget and the waits of docs/reliability.md.

Every operation is safe to replay, and every strategy has the same caller.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from dataclasses import dataclass, field

from benchmarks.simulation.events import Events, Process
from benchmarks.simulation.load import Operation
from benchmarks.simulation.strategies import Picked, Strategy
from benchmarks.simulation.world import Reply, World
from router_service.domain.report import ReportedAttempt
from router_service.engine.time_budget import allowances_ms, spendable_ms

REPORT_MS = 10  # how long a report is on its way
_BASE_MS, _CAP_MS = 200, 2000  # of the wait before another attempt on the same endpoint
_SOON_MS = 1000

NEXT, SAME_IF_SOON, SAME_IF_LAST, STOP = "next", "the same once if soon", "the same if nothing else is left", "stop"


@dataclass(frozen=True, slots=True)
class Class:
    """The class of what was seen, as the table of failure classes has it, and what then."""

    failure: str
    then: str


ACCEPTED, INVALID = Class("", STOP), Class("invalid_response", NEXT)
REFUSED, LOST = Class("transient", SAME_IF_SOON), Class("ambiguous", NEXT)
BY_STATUS = {429: Class("transient", SAME_IF_LAST), 503: Class("transient", NEXT)}


def class_of(reply: Reply, *, lost: bool) -> Class:
    """The class of an attempt; `lost` is whether its allowance ended before its reply came."""
    if lost:
        return LOST
    if reply.status is None:
        return REFUSED
    if reply.status == 200:
        return ACCEPTED if reply.valid else INVALID
    return BY_STATUS[reply.status]


@dataclass(slots=True)
class Came:
    """What came of an operation that began at the instant `at`; `took` in ms, `cost` in 10⁻¹².

    `listed` are its decision's candidates, the primary first; none where it was refused. `outside` counts attempts on
    endpoints that its decision did not list, or that its policy does not admit.
    """

    at: int
    listed: tuple[str, ...] = ()
    attempts: int = 0
    accepted: bool = False
    took: int = 0
    cost: int = 0
    outside: int = 0


@dataclass(slots=True)
class _Turn:
    """An operation under way: `left` are the candidates that may still be attempted, the next one first."""

    operation: Operation
    picked: Picked
    came: Came
    left: list[tuple[str, int]]
    tried: set[str] = field(default_factory=set)
    retries: int = 0

    @property
    def attempts_left(self) -> int:
        return self.operation.request.max_attempts - self.came.attempts

    def time_left(self, now: int) -> int:
        """What can still be spent on attempts."""
        return spendable_ms(self.operation.request.deadline_ms or 0) - (now - self.came.at)

    def allowance(self, now: int) -> int | None:
        """What the next attempt may take, of the time divided anew; None where there is none. Drops what cannot fit."""
        while self.left and self.attempts_left:
            allowance = allowances_ms(self.time_left(now), min(len(self.left), self.attempts_left))[0]
            if self.left[0][1] <= allowance:
                return allowance
            del self.left[0]
        return None


class Caller:
    """Makes operations, each a process; `came` has what came of them in the order in which they began."""

    def __init__(self, events: Events, world: World, strategy: Strategy, seed: int) -> None:
        self._events, self._world, self._strategy, self._seed = events, world, strategy, seed
        self.came: list[Came] = []

    def operation(self, operation: Operation) -> Process:
        """One request, from its decision to its end."""
        picked = self._strategy.decide(operation, self._events.now)
        came = Came(self._events.now, tuple(endpoint_id for endpoint_id, _ in picked.candidates))
        turn = _Turn(operation, picked, came, list(picked.candidates))
        self.came.append(came)
        if turn.left:
            yield from self._attempts(turn)
        came.took = self._events.now - came.at
        came.accepted &= came.took <= (operation.request.deadline_ms or 0)

    def _attempts(self, turn: _Turn) -> Process:
        while (allowance := turn.allowance(self._events.now)) is not None:
            reply, seen = yield from self._attempt(turn, allowance)
            if seen is ACCEPTED:
                turn.came.accepted = True
                return
            wait = self._wait(turn, reply, seen)
            turn.tried.add(turn.left[0][0])
            if wait is None:
                del turn.left[0]
            else:
                turn.retries += 1
                yield wait
        self._report(turn, (), "failed")

    def _attempt(self, turn: _Turn, allowance: int) -> Generator[int, None, tuple[Reply, Class]]:
        operation, came, begun = turn.operation, turn.came, self._events.now
        endpoint_id = turn.left[0][0]
        came.outside += endpoint_id not in operation.allowed or turn.left[0] not in turn.picked.candidates
        came.attempts += 1
        reply = self._world.reply(endpoint_id, operation, came.attempts, begun)
        lost = reply.after_ms is None or reply.after_ms > allowance
        took = allowance if reply.after_ms is None else min(reply.after_ms, allowance)
        yield took
        seen = class_of(reply, lost=lost)
        tokens_out = operation.output_tokens if not lost else min(reply.tokens_by(took), operation.output_tokens)
        tokens_in = (operation.request.input_tokens or 0) if reply.status == 200 else 0
        if reply.status == 200:
            came.cost += self._world.cost(endpoint_id, tokens_in, tokens_out)
        attempt = ReportedAttempt(
            attempt_id=str(came.attempts),
            endpoint_id=endpoint_id,
            started_at=begun,
            latency_ms=took,
            time_to_first_token_ms=reply.first_token_ms if reply.status == 200 and not lost else None,
            failure_class=seen.failure,
            status_code=None if lost else reply.status,
            input_tokens=tokens_in,
            output_tokens=tokens_out if reply.status == 200 else 0,
            retry_after_ms=reply.retry_after_ms,
            timeout_ms=allowance,
        )
        self._report(turn, (attempt,), "accepted" if seen is ACCEPTED else "")
        return reply, seen

    def _wait(self, turn: _Turn, reply: Reply, seen: Class) -> int | None:
        """How long to wait before the same endpoint is attempted again; None where it is not."""
        endpoint_id, need = turn.left[0]
        wait = None
        if seen.then == SAME_IF_SOON and endpoint_id not in turn.tried and (reply.after_ms or 0) < _SOON_MS:
            wait = self._jitter(turn)
        elif seen.then == SAME_IF_LAST and len(turn.left) == 1:
            wait = self._jitter(turn) if reply.retry_after_ms is None else reply.retry_after_ms
        fits = wait is not None and turn.attempts_left and wait + need <= turn.time_left(self._events.now)
        return wait if fits else None

    def _jitter(self, turn: _Turn) -> int:
        rng = random.Random((self._seed << 48) + (turn.operation.number << 8) + 128 + turn.retries)
        return rng.randint(0, min(_CAP_MS, _BASE_MS << turn.retries))

    def _report(self, turn: _Turn, attempts: tuple[ReportedAttempt, ...], outcome: str) -> None:
        self._events.start(self._reported(turn, attempts, outcome), REPORT_MS)

    def _reported(self, turn: _Turn, attempts: tuple[ReportedAttempt, ...], outcome: str) -> Process:
        self._strategy.tell(turn.picked, attempts, outcome, self._events.now)
        yield from ()
