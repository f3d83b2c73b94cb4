"""Observed figures: against the plain weighted mean, within what was observed, and forgotten in time."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from router_service.domain.thresholds import Thresholds
from router_service.health.figures import Figure, latency_of, shown_latency, shown_rate
from router_service.health.state import Health, observe, observed
from tests.health.events import DEFAULTS, MINUTE, NOW, SECOND, after, attempt, seen

AT_ONCE = Thresholds(least_observations=1)
HALF_LIFE = DEFAULTS.half_life_ms
FORGET = DEFAULTS.forget_ms


def with_latencies(*latencies: int, health: Health | None = None, now: int = NOW) -> Health:
    health = health or Health()
    for latency in latencies:
        health = observe(health, seen("success", now, latency_ms=latency), now, DEFAULTS)
    return health


@pytest.mark.parametrize(("count", "expected"), [(4, None), (5, 300)])
def test_there_have_to_be_enough_observations(count: int, expected: int | None) -> None:
    assert observed(with_latencies(*[300] * count), NOW, DEFAULTS)[0] == expected
    rate = None if expected is None else 0.0
    assert observed(after("success " * count), NOW, DEFAULTS) == (None, rate)


def test_of_what_each_figure_is() -> None:
    health = Health()
    for effect in ("success", "failure", "invalid", "suppressed", "none"):
        health = observe(health, seen(effect, NOW, latency_ms=len(effect)), NOW, DEFAULTS)
    assert observed(health, NOW, AT_ONCE) == (len("success"), 0.333)


def test_what_is_half_as_old_again_weighs_half_as_much() -> None:
    health = with_latencies(100)
    later = with_latencies(400, health=health, now=NOW + HALF_LIFE)
    assert observed(later, NOW + HALF_LIFE, AT_ONCE)[0] == 300  # (100 × ½ + 400) / 1½
    late = observe(with_latencies(400), seen("success", NOW - HALF_LIFE, latency_ms=100), NOW, DEFAULTS)
    assert observed(late, NOW, AT_ONCE)[0] == 300


def test_age_alone_moves_nothing() -> None:
    health = with_latencies(100, 200, 300, 400, 500)
    assert {observed(health, NOW + age, DEFAULTS)[0] for age in range(0, FORGET, MINUTE)} == {300}


def test_a_figure_is_forgotten_to_the_millisecond_and_begins_anew() -> None:
    health = with_latencies(*[300] * 5)
    assert observed(health, NOW + FORGET - 1, DEFAULTS) == (300, 0.0)
    assert observed(health, NOW + FORGET, DEFAULTS) == (None, None)
    anew = with_latencies(900, health=health, now=NOW + FORGET)
    assert observed(anew, NOW + FORGET, DEFAULTS) == (None, None)
    assert observed(anew, NOW + FORGET, AT_ONCE) == (900, 0.0)


def test_a_latency_is_forgotten_though_failures_are_reported() -> None:
    health = with_latencies(*[300] * 5)
    for minute in range(1, 31):
        health = after("failure", NOW + minute * MINUTE, health=health)
    latency, rate = observed(health, NOW + FORGET, DEFAULTS)
    assert latency is None
    assert rate is not None
    assert rate > 0.9


def test_what_is_reported_too_late_is_no_observation() -> None:
    for age, expected in ((FORGET - 1, 100), (FORGET, None)):
        health = observe(Health(), seen("success", NOW - age, latency_ms=100), NOW, DEFAULTS)
        assert observed(health, NOW, AT_ONCE)[0] == expected
    health = with_latencies(100, 100, 100, 100)
    health = observe(health, seen("success", NOW - FORGET, latency_ms=100), NOW, DEFAULTS)
    assert observed(health, NOW, DEFAULTS) == (None, None)


@pytest.mark.parametrize(("latencies", "expected"), [((100, 101), 101), ((100, 100, 101), 100), ((1, 2, 2), 2)])
def test_a_latency_is_told_in_whole_milliseconds(latencies: tuple[int, ...], expected: int) -> None:
    assert observed(with_latencies(*latencies), NOW, AT_ONCE)[0] == expected


@pytest.mark.parametrize("ahead", [1, HALF_LIFE, 10**12])
def test_a_report_from_the_future_is_one_of_now(ahead: int) -> None:
    future = seen("success", NOW, at=NOW + ahead, latency_ms=100)
    health = with_latencies(200, health=observe(Health(), future, NOW, DEFAULTS))
    assert observed(health, NOW, AT_ONCE)[0] == 150


@pytest.mark.parametrize("back", [1, HALF_LIFE, FORGET - 1])
def test_a_clock_set_back_takes_what_is_known_as_of_now(back: int) -> None:
    health = with_latencies(200, health=with_latencies(100), now=NOW - back)
    assert observed(health, NOW - back, AT_ONCE)[0] == 150
    assert health.latency.at == NOW - back


def test_a_clock_set_back_by_very_much_begins_anew() -> None:
    health = with_latencies(200, health=with_latencies(100), now=NOW - FORGET)
    assert observed(health, NOW - FORGET, AT_ONCE)[0] == 200


OBSERVATIONS = st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, FORGET - 1)), min_size=1, max_size=30)


@settings(max_examples=150)
@given(OBSERVATIONS)
def test_it_is_the_plain_weighted_mean_in_whatever_order_it_is_told(told: list[tuple[int, int]]) -> None:
    weights = [2.0 ** (-age / HALF_LIFE) for _, age in told]
    mean = math.fsum(w * value for w, (value, _) in zip(weights, told, strict=True)) / math.fsum(weights)
    for order in (told, told[::-1], sorted(told)):
        figure = Figure()
        for value, age in order:
            figure = figure.with_observation(value, NOW - age, NOW, DEFAULTS)
        assert figure.value == pytest.approx(mean, rel=1e-9, abs=1e-6)
        assert figure.count == len(told)


EVENTS = st.lists(
    st.tuples(
        st.integers(0, 2**32 - 1),
        st.sampled_from([0, 1, SECOND, MINUTE, FORGET - 1, FORGET, -1, -MINUTE, -FORGET, 10**12, -(10**12)]),
        st.integers(0, 10**12),
    ),
    min_size=1,
    max_size=30,
)
TINY = Thresholds(half_life_ms=1000, least_observations=1)


@settings(max_examples=150)
@given(EVENTS, st.sampled_from([AT_ONCE, TINY]))
def test_whatever_the_clocks_do_it_stays_within_what_was_observed(
    events: list[tuple[int, int, int]], thresholds: Thresholds
) -> None:
    figure, now, values = Figure(), NOW, []
    for value, step, age in events:
        now += step
        values.append(value)
        figure = figure.with_observation(value, now - age, now, thresholds)
        assert figure.count == 0 or min(values) <= figure.value <= max(values)
        assert figure.count == 0 or (math.isfinite(figure.weight) and figure.weight >= 1)
        shown = shown_latency(figure.told(now, thresholds))
        assert shown is None or min(values) <= shown <= max(values)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, FORGET - 1)), min_size=1, max_size=30))
def test_an_error_rate_is_within_0_and_1_and_exact_at_the_ends(told: list[tuple[bool, int]]) -> None:
    figure = Figure()
    for failed, age in told:
        figure = figure.with_observation(float(failed), NOW - age, NOW, AT_ONCE)
    rate = shown_rate(figure.told(NOW, AT_ONCE))
    assert rate is not None
    assert 0 <= rate <= 1
    kinds = {failed for failed, _ in told}
    assert len(kinds) == 2 or rate == float(kinds == {True})


@pytest.mark.parametrize(
    ("told", "speed", "expected"),
    [
        ({"time_to_first_token_ms": 0, "latency_ms": 900, "output_tokens": 10}, Fraction(50), 0),
        ({"latency_ms": 900, "output_tokens": 10}, Fraction(50), 700),
        ({"latency_ms": 900, "output_tokens": 10}, Fraction(3), 0),
        ({"latency_ms": 4000, "output_tokens": 10}, Fraction(3), 666),  # 3334 rounded up
        ({"latency_ms": 900, "output_tokens": 0}, Fraction(50), 900),
        ({"latency_ms": 900, "output_tokens": 10}, None, 900),
        ({"latency_ms": 900}, Fraction(50), 900),
        ({"output_tokens": 10}, Fraction(50), None),
        ({}, None, None),
    ],
)
def test_latency_to_the_first_token(told: dict[str, int], speed: Fraction | None, expected: int | None) -> None:
    assert latency_of(attempt(**told), speed) == expected
