"""Strategies: ways to choose, for one request, the endpoints to try and their order. The caller's part is the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Protocol

from benchmarks.simulation.load import Operation, catalogue
from router_service.asks import Answer, Ask
from router_service.catalog.served import Served
from router_service.domain.caller import LOCAL
from router_service.domain.decision import Decision
from router_service.domain.report import OutcomeReport, ReportedAttempt
from router_service.domain.request import RouteRequest
from router_service.engine.bits import positions
from router_service.engine.slices import made_of
from router_service.engine.time_budget import failover_list, need_ms, spendable_ms
from router_service.health.shared import SharedHealth
from router_service.router import Router
from router_service.server.pulse import BEAT_S, FIGURES_EVERY_S, LOOK_EVERY_S

# The server's own (server/pulse.py): at each beat it looks whether figures changed, and serves them at most so often.
BEAT_MS, FIGURES_MS, LOOK_MS = (round(1000 * seconds) for seconds in (BEAT_S, FIGURES_EVERY_S, LOOK_EVERY_S))
UNDER_WAY = "failed"
"""The outcome of a report of a failed attempt while its operation goes on: a report must name one."""


@dataclass(slots=True)
class Picked:
    """What was decided: pairs (endpoint_id, need in ms), the first the primary; nothing where it was refused."""

    trace_id: str
    at: int
    candidates: tuple[tuple[str, int], ...]
    unreported: tuple[ReportedAttempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Lesson:
    """A report of what was picked, told at the instant `at`."""

    report: OutcomeReport
    picked: Picked
    at: int


class Strategy(Protocol):
    """What a run needs of one."""

    def decide(self, operation: Operation, now: int) -> Picked:
        """What to try for a request."""

    def tell(self, picked: Picked, attempts: tuple[ReportedAttempt, ...], outcome: str, now: int) -> None:
        """What came of attempts; `outcome` is empty while the operation goes on."""

    def beat(self, now: int) -> None:
        """Comes every BEAT_MS."""


class Untaught:
    """Learns nothing. `order` lists the endpoints for a request."""

    def __init__(self, order: Callable[[Operation], tuple[tuple[str, int], ...]]) -> None:
        self._order = order

    def decide(self, operation: Operation, now: int) -> Picked:
        return Picked("", now, self._order(operation))

    def tell(self, picked: Picked, attempts: tuple[ReportedAttempt, ...], outcome: str, now: int) -> None:
        pass

    def beat(self, now: int) -> None:
        pass


class Ours:
    """The service's own router and health, on virtual time; no store, since one instance shares with nobody.

    Reports go straight to what Router.report gives them to, past the store that would keep them: even one in memory
    would take two fifths more of the time, and tests/test_simulation.py holds that the figures are the same.
    """

    def __init__(self, now: int, lessons: Iterable[Lesson] = (), *, at_the_end: bool = False) -> None:
        """`lessons` are what was told before; `at_the_end` is whether callers report once an operation is over."""
        self.now, self._at_the_end = now, at_the_end
        self.health = SharedHealth()
        snapshot = catalogue()
        self.health.board.thresholds = snapshot.content.thresholds
        self.served = Served(snapshot)
        self._seen, self._shown_at = -1, 0
        ids = count()
        self.router = self.make_router(lambda: f"{next(ids):032x}")
        self.lessons: list[Lesson] = []
        for lesson in lessons:
            self._learn(lesson)

    def make_router(self, new_trace_id: Callable[[], str]) -> Router:
        """The router, on this clock and health."""
        return Router(self.served, lambda: self.now, new_trace_id=new_trace_id, health=self.health)

    def decide(self, operation: Operation, now: int) -> Picked:
        self.now = now
        answer = self.router.decide(LOCAL, Ask(operation.request, operation.policy_id))
        if not isinstance(answer, Answer):
            raise TypeError("without a store nothing is to be awaited")
        candidates = answer.result.candidates if isinstance(answer.result, Decision) else ()
        return Picked(answer.trace_id, now, tuple((one.endpoint_id, one.need_ms) for one in candidates))

    def tell(self, picked: Picked, attempts: tuple[ReportedAttempt, ...], outcome: str, now: int) -> None:
        picked.unreported += attempts
        if outcome or not self._at_the_end:
            self.now = now
            told, picked.unreported = picked.unreported, ()
            report = OutcomeReport(trace_id=picked.trace_id, outcome=outcome or UNDER_WAY, attempts=told)
            self.report(Lesson(report, picked, now))

    def report(self, lesson: Lesson) -> None:
        """Tells the service."""
        self.lessons.append(lesson)
        self._learn(lesson)

    def _learn(self, lesson: Lesson) -> None:
        """As Router.report does once the store has taken it."""
        self.health.learn(
            lesson.report,
            [one.attempt_id for one in lesson.report.attempts],
            decided_at=lesson.picked.at,
            now=lesson.at,
            index=self.router.catalog().index,
            needs=lambda: dict(lesson.picked.candidates),
        )

    def beat(self, now: int) -> None:
        """As server/pulse.py does."""
        waited, changed = now - self._shown_at, self.health.board.changes != self._seen
        if not (changed and waited >= FIGURES_MS) and waited < LOOK_MS:
            return
        self._seen, self._shown_at, snapshot = self.health.board.changes, now, self.router.catalog()
        overlay = made_of(self.health.board.overlay(now))
        if overlay != snapshot.overlay:
            self.served.install(made_of(snapshot.overlaid(overlay)))


def _at_rest(operation: Operation) -> tuple[tuple[str, int], ...]:
    """The router that learns nothing: it decides as it does at rest."""
    return tuple((one.endpoint_id, one.need_ms) for one in operation.at_rest.candidates)


def _at_random(seed: int) -> Callable[[Operation], tuple[tuple[str, int], ...]]:
    def order(operation: Operation) -> tuple[tuple[str, int], ...]:
        admitted = list(positions(operation.admitted))
        random.Random((seed << 48) + (operation.number << 8) + 255).shuffle(admitted)
        return _listed(operation, admitted)

    return order


def _fixed(operation: Operation) -> tuple[tuple[str, int], ...]:
    """One order for all requests, as an operator writes it down: by the catalogue's figures, for no task at all."""
    places = _places()
    return _listed(operation, sorted(positions(operation.admitted), key=places.__getitem__))


@cache
def _places() -> dict[int, int]:
    index = catalogue().index
    ranking = index.rankings.whole(index.everything, index.rankings.ask(RouteRequest()))
    return {position: place for place, position in enumerate(ranking.walk())}


def _listed(operation: Operation, ordered: Iterable[int]) -> tuple[tuple[str, int], ...]:
    """As many of the first as the time lets in, by the service's own rule."""
    request, endpoints = operation.request, catalogue().index.endpoints
    needs = ((position, need_ms(endpoints[position], request.expected_output_tokens)) for position in ordered)
    listed = failover_list(needs, spendable_ms(request.deadline_ms or 0), request.max_attempts)
    return tuple((endpoints[position].endpoint_id, need) for position, need in listed)


OURS, OFF, RANDOM, FIXED, LATE = (
    "this router",
    "health loop off",
    "random",
    "fixed order",
    "this router, told at the end",
)
COMPARED = (OURS, OFF, RANDOM, FIXED)


def strategy(name: str, seed: int, now: int, lessons: Iterable[Lesson] = ()) -> Strategy:
    """A new one of this name; `lessons` are what the service was told before."""
    if name in (OURS, LATE):
        return Ours(now, lessons, at_the_end=name == LATE)
    return Untaught({OFF: _at_rest, RANDOM: _at_random(seed), FIXED: _fixed}[name])
