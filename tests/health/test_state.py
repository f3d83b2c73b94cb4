"""State: suppressions, statuses by hand, what a store keeps, and when all of it may be forgotten; cases 25 to 28."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from router_service.domain.report import ReportedAttempt
from router_service.health.effects import effect_of
from router_service.health.state import (
    ByHand,
    Health,
    blocked_until,
    is_idle,
    observe,
    observed,
    phase,
    set_by_hand,
)
from tests.health.events import DEFAULTS, MINUTE, NOW, SECOND, after, attempt, seen, taken

DAY = 24 * 3600 * SECOND


def reported(health: Health, one: ReportedAttempt, now: int = NOW, need_ms: int | None = 700) -> Health:
    """The health after an attempt, from its report to its effect."""
    effect = effect_of(one, "", need_ms, DEFAULTS)
    return observe(health, seen(effect.kind, now, suppress_for_ms=effect.suppress_for_ms), now, DEFAULTS)


def test_case_25_the_callers_own_time_out_counts_against_nothing() -> None:
    health = Health()
    for _ in range(100):
        health = reported(health, attempt("transient", timeout_ms=100, latency_ms=100))
    assert health == Health(reported_at=NOW)


def test_case_26_low_credit_suppresses_and_a_schema_error_does_not() -> None:
    poor = reported(Health(), attempt("permanent", 400, error_code="credit balance is too low"))
    assert blocked_until(poor, NOW, DEFAULTS) == NOW + 5 * MINUTE
    assert phase(poor, NOW) == "closed"
    assert reported(Health(), attempt("permanent", 400)) == Health(reported_at=NOW)
    assert reported(Health(), attempt("incompatible", 400, error_code="unsupported_parameter")) == Health(
        reported_at=NOW
    )


def test_case_27_of_two_suppressions_the_later_end_holds() -> None:
    limited = attempt("transient", 429, retry_after_ms=60_000)
    for first, second in ((limited, attempt("transient", 429)), (attempt("transient", 429), limited)):
        health = reported(reported(Health(), first), second, NOW + 1)
        assert blocked_until(health, NOW + 1, DEFAULTS) == NOW + MINUTE + (second is limited)
    health = reported(reported(Health(), limited), attempt("transient", 503))
    assert blocked_until(health, NOW, DEFAULTS) == NOW + MINUTE


def test_case_28_failures_in_a_row_block_at_once() -> None:
    health = Health()
    for number in range(25):
        health = reported(health, attempt("transient", 503))
        assert (blocked_until(health, NOW, DEFAULTS) is None) == (number < 4)
    assert blocked_until(health, NOW, DEFAULTS) == NOW + 30 * SECOND


def test_a_suppression_ends_to_the_millisecond() -> None:
    health = reported(Health(), attempt("transient", 429))
    assert blocked_until(health, NOW + 9_999, DEFAULTS) == NOW + 10_000
    assert blocked_until(health, NOW + 10_000, DEFAULTS) is None


def test_a_suppression_begins_when_the_attempt_ended() -> None:
    late = observe(Health(), seen("suppressed", NOW - 8 * SECOND, suppress_for_ms=10_000), NOW, DEFAULTS)
    assert blocked_until(late, NOW, DEFAULTS) == NOW + 2 * SECOND
    over = observe(Health(), seen("suppressed", NOW - 10 * SECOND, suppress_for_ms=10_000), NOW, DEFAULTS)
    assert over == Health(reported_at=NOW)


@pytest.mark.parametrize("off", [-(10**12), -MINUTE, MINUTE, 10**12])
def test_a_callers_clock_moves_no_suppression_out_of_what_can_be(off: int) -> None:
    told = seen("suppressed", NOW, decided_at=NOW - 5 * SECOND, at=NOW + off, suppress_for_ms=MINUTE)
    until = blocked_until(observe(Health(), told, NOW, DEFAULTS), NOW, DEFAULTS)
    assert until == NOW + (MINUTE if off > 0 else 55 * SECOND)


def test_a_block_is_until_both_ends() -> None:
    opened = after("failure " * 5)
    short = reported(opened, attempt("transient", 429))
    assert blocked_until(short, NOW, DEFAULTS) == NOW + 30 * SECOND
    long = reported(opened, attempt("transient", 429, retry_after_ms=90_000))
    assert blocked_until(long, NOW, DEFAULTS) == NOW + 90 * SECOND
    half_open_at = NOW + 30 * SECOND
    held = taken(long, "a", half_open_at, DEFAULTS)
    assert blocked_until(held, half_open_at, DEFAULTS) == NOW + 90 * SECOND


@pytest.mark.parametrize("back", [SECOND, MINUTE, 2 * MINUTE, DAY])
def test_a_clock_set_back_prolongs_no_suppression_by_more_than_its_time(back: int) -> None:
    health = reported(Health(), attempt("transient", 429, retry_after_ms=60_000))
    until = blocked_until(health, NOW - back, DEFAULTS)
    assert until is None or until - (NOW - back) <= 2 * MINUTE
    again = reported(health, attempt("transient", 429), NOW - back)
    assert (blocked_until(again, NOW - back, DEFAULTS) or 0) > NOW - back


def test_a_status_by_hand() -> None:
    health = set_by_hand(after("failure"), "maintenance", "new cards", NOW)
    assert health.by_hand == ByHand("maintenance", "new cards", NOW)
    assert after("failure " * 4, NOW + 1, health=health).by_hand == health.by_hand
    again = set_by_hand(health, "maintenance", "old cards", NOW + 5)
    assert again.by_hand == ByHand("maintenance", "old cards", NOW)
    assert set_by_hand(again, "down", "", NOW + 6).by_hand == ByHand("down", "", NOW + 6)
    assert set_by_hand(again, "", "", NOW + 7) == after("failure")


@pytest.mark.parametrize(
    ("health", "idle"),
    [
        (Health(), True),
        (after("success failure invalid none suppressed"), True),
        (after("failure " * 5), False),
        (after("success success", NOW + MINUTE, health=after("failure " * 5)), False),
        (set_by_hand(Health(), "down", "", NOW), False),
        (set_by_hand(set_by_hand(Health(), "down", "", NOW), "", "", NOW), True),
        (observe(Health(), seen("suppressed", NOW, suppress_for_ms=DAY), NOW, DEFAULTS), False),
    ],
)
def test_what_may_be_forgotten(health: Health, idle: bool) -> None:
    assert is_idle(health, NOW + DEFAULTS.forget_ms, DEFAULTS) == idle
    assert is_idle(health, NOW + DEFAULTS.forget_ms - 1, DEFAULTS) == (idle and health.reported_at is None)


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["success", "failure", "invalid", "none", "suppressed"]), max_size=12),
    st.sampled_from(["success", "failure", "invalid", "none"]),
    st.sampled_from([DEFAULTS.forget_ms, -DEFAULTS.forget_ms, 10**10]),
)
def test_to_forget_what_is_idle_changes_nothing(effects: list[str], effect: str, silence: int) -> None:
    health, now = after(" ".join(effects)), NOW + silence
    if is_idle(health, now, DEFAULTS):
        assert observed(health, now, DEFAULTS) == (None, None)
        assert blocked_until(health, now, DEFAULTS) is None
        assert after(effect, now, health=health) == after(effect, now)
