"""Random lives of an endpoint: decisions, reports in any order and lateness, clocks; and what holds at every moment."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, precondition, rule

from router_service.domain.thresholds import Thresholds
from router_service.health.circuit import held
from router_service.health.effects import EFFECTS, NONE, SUCCESS, SUPPRESSED
from router_service.health.kept import Kept, decode, encode
from router_service.health.state import (
    Health,
    blocked_until,
    must_take_place,
    observe,
    observed,
    phase,
    release,
    take_place,
)
from tests.health.events import NOW, SECOND, seen
from tests.health.reference import Reference

SMALL = {
    "failures_in_row": 3,
    "least_attempts": 6,
    "invalid_in_row": 4,
    "invalid_least": 5,
    "window_ms": 5000,
    "open_ms": 3000,
    "open_max_ms": 10_000,
    "probe_ms": 2000,
    "half_life_ms": 10_000,
    "least_observations": 2,
    "forget_ms": 60_000,
}
PAUSES = st.sampled_from([0, 0, 0, 1000, 20_000])
PAUSE_MAX = 20_000
STEPS = st.sampled_from([0, 0, 1, 499, 1000, 1999, 2000, 3000, 6000, 10_000, 61_000])
LATE = 15 * SECOND


class Life(RuleBasedStateMachine):
    """An endpoint under a clock that only goes on, beside the reference."""

    decisions: Bundle[tuple[str, int]] = Bundle("decisions")

    @initialize(probes=st.integers(1, 3), good_probes=st.integers(1, 3))
    def begin(self, probes: int, good_probes: int) -> None:
        self.thresholds = Thresholds(**SMALL, probes=probes, good_probes=good_probes)
        self.health, self.now, self.traces = Health(), NOW, 0
        self.reference: Reference | None = Reference(self.thresholds)
        self.latencies: list[int] = []

    @rule(step=STEPS)
    def time_goes_on(self, step: int) -> None:
        self.now += step

    @rule(target=decisions)
    def a_decision(self) -> tuple[str, int]:
        """Lists the endpoint where it may, with a place where it must."""
        trace_id = f"t{self.traces}"
        self.traces += 1
        if blocked_until(self.health, self.now, self.thresholds) is None:
            taken = take_place(self.health, trace_id, self.now, self.thresholds)
            assert taken is not None
            assert must_take_place(self.health, self.now) == (taken is not self.health)
            assert take_place(taken, trace_id, self.now, self.thresholds) is taken
            self.health = taken
            if self.reference:
                self.reference.take(trace_id, self.now)
        elif must_take_place(self.health, self.now) and self.health.suppressed is None:
            assert take_place(self.health, trace_id, self.now, self.thresholds) is None
        return trace_id, self.now

    @rule(
        decision=decisions, effect=st.sampled_from(EFFECTS), pause=PAUSES, age=STEPS, latency_ms=st.integers(0, 10**6)
    )
    def an_attempt_is_reported(
        self, decision: tuple[str, int], effect: str, pause: int, age: int, latency_ms: int
    ) -> None:
        """A decision may be reported more than once: it may have attempted the endpoint twice, or not listed it."""
        trace_id, decided_at = decision
        at = min(max(self.now - age, decided_at), self.now)
        told: dict[str, Any] = {"trace_id": trace_id, "decided_at": decided_at, "at": self.now - age}
        one = seen(effect, self.now, suppress_for_ms=pause, latency_ms=latency_ms, **told)
        self.health = observe(self.health, one, self.now, self.thresholds)
        self.latencies.append(latency_ms)
        if self.reference:
            self.reference.report(trace_id, decided_at, effect, at, self.now)

    @rule(decision=consumes(decisions))
    def a_report_without_an_attempt(self, decision: tuple[str, int]) -> None:
        self.health = release(self.health, decision[0])
        if self.reference:
            self.reference.places.pop(decision[0], None)

    @invariant()
    def it_is_what_the_reference_says(self) -> None:
        if self.reference:
            assert phase(self.health, self.now) == self.reference.phase(self.now)
            if blocked_until(self.health, self.now, self.thresholds) is None:
                assert self.reference.is_free(self.now)
            elif self.health.suppressed is None:
                assert not self.reference.is_free(self.now)

    @invariant()
    def there_are_never_more_places_than_there_may_be(self) -> None:
        assert len(held(self.health.circuit, self.now)) <= self.thresholds.probes

    @invariant()
    def a_block_ends_after_now_and_in_bounded_time(self) -> None:
        until = blocked_until(self.health, self.now, self.thresholds)
        assert until is None or 0 < until - self.now <= 2 * max(self.thresholds.open_max_ms, PAUSE_MAX)
        assert until is not None or phase(self.health, self.now) != "open"

    @invariant()
    def its_time_is_doubled_within_bounds(self) -> None:
        opened = self.health.circuit.opened
        assert opened is None or opened.length in (3000, 6000, 10_000)

    @invariant()
    def figures_are_within_what_was_observed(self) -> None:
        latency, rate = observed(self.health, self.now, self.thresholds)
        assert latency is None or min(self.latencies) <= latency <= max(self.latencies)
        assert rate is None or 0 <= rate <= 1

    @invariant()
    def a_store_gives_back_what_it_got(self) -> None:
        assert decode(encode(Kept(self.health))).health == self.health

    @invariant()
    def good_probes_close_it_in_bounded_time_though_each_is_reported_late(self) -> None:
        health, now, needed = self.health, self.now, self.thresholds.good_probes
        longest_block = 2 * max(self.thresholds.open_max_ms, PAUSE_MAX)
        for number in range(needed + 1):
            while (until := blocked_until(health, now, self.thresholds)) is not None:
                now = until
            if phase(health, now) == "closed":
                break
            taken = take_place(health, f"good{number}", now, self.thresholds)
            assert taken is not None
            probe = seen(SUCCESS, now + LATE, trace_id=f"good{number}", decided_at=now)
            now += LATE
            health = observe(taken, probe, now, self.thresholds)
        assert phase(health, now) == "closed"
        # Twice: what a clock set back has ended may run again for the rest of its time once the clock comes there.
        assert now - self.now <= 2 * longest_block + needed * LATE


class LifeWithClocks(Life):
    """The same under a clock that is set back now and then, which no reference has to understand."""

    @precondition(lambda self: self.traces > 3)
    @rule(step=st.sampled_from([1, 50, 1000, 5000, 30_000, 61_000, 10**9]))
    def the_clock_is_set_back(self, step: int) -> None:
        self.now -= step
        self.reference = None


BUDGET = settings(max_examples=40, stateful_step_count=40, deadline=None)


@pytest.mark.parametrize("machine", [Life, LifeWithClocks])
def test_lives(machine: type[Life]) -> None:
    case = type(machine.__name__, (machine.TestCase,), {"settings": BUDGET})
    case("runTest").runTest()


HARMLESS = st.lists(
    st.tuples(st.sampled_from([SUCCESS, NONE, SUPPRESSED]), STEPS | st.sampled_from([-1, -5000, -(10**9)]), PAUSES),
    max_size=60,
)


@settings(max_examples=60)
@given(HARMLESS)
def test_nothing_but_failures_and_invalid_answers_opens_a_circuit(events: list[tuple[str, int, int]]) -> None:
    thresholds, health, now = Thresholds(**SMALL), Health(), NOW
    for effect, step, pause in events:
        now += step
        health = observe(health, seen(effect, now, suppress_for_ms=pause), now, thresholds)
        assert phase(health, now) == "closed"
        assert observed(health, now, thresholds)[1] in (None, 0.0)
