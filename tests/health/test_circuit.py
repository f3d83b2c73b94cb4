"""Circuits: when they open, what is a probe, how they close; to the attempt and to the millisecond."""

from __future__ import annotations

from itertools import permutations

import pytest

from router_service.domain.thresholds import Thresholds
from router_service.health.state import (
    Health,
    blocked_until,
    must_take_place,
    observe,
    phase,
    release,
    take_place,
)
from tests.health.events import DEFAULTS, MINUTE, NOW, SECOND, after, seen, taken

OPENED = after("failure " * 5)
HALF_OPEN_AT = NOW + 30 * SECOND
# Nothing opens by a row here, so that shares can be seen alone.
BY_SHARE = Thresholds(failures_in_row=1000, invalid_in_row=1000)


def in_turn(*rows: tuple[str, int]) -> str:
    """So many of each effect, mixed so that no row is long."""
    left = dict(rows)
    mixed = []
    while any(left.values()):
        for effect, count in left.items():
            if count:
                mixed.append(effect)
                left[effect] = count - 1
    return " ".join(mixed)


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ("failure " * 4, "closed"),
        ("failure " * 5, "open"),
        ("failure " * 4 + "success " + "failure " * 4, "closed"),
        ("failure " * 4 + "invalid " + "failure " * 4, "closed"),  # it answered
        ("failure " * 4 + "none suppressed " + "failure", "open"),  # these say nothing
        ("invalid " * 9, "closed"),
        ("invalid " * 10, "open"),
        ("invalid " * 9 + "success " + "invalid " * 9, "closed"),
        ("invalid " * 9 + "failure " + "invalid", "open"),  # a failure is no answer that would have been accepted
        ("none suppressed success " * 500, "closed"),
    ],
)
def test_rows(effects: str, expected: str) -> None:
    assert phase(after(effects), NOW) == expected


@pytest.mark.parametrize("bad", ["failure", "invalid"])
@pytest.mark.parametrize(
    ("good", "wrong", "expected"),
    [(10, 9, "closed"), (9, 10, "closed"), (10, 10, "open"), (11, 10, "closed"), (11, 11, "open"), (0, 19, "closed")],
)
def test_shares(bad: str, good: int, wrong: int, expected: str) -> None:
    health = after("success " * good + f"{bad} " * wrong, thresholds=BY_SHARE)
    assert phase(health, NOW) == expected


def test_shares_are_each_of_all_attempts_that_count() -> None:
    mixed = in_turn(("failure", 9), ("invalid", 9), ("success", 2), ("none", 50), ("suppressed", 50))
    assert phase(after(mixed, thresholds=BY_SHARE), NOW) == "closed"


def test_invalid_answers_have_thresholds_of_their_own() -> None:
    thresholds = Thresholds(failures_in_row=1000, invalid_in_row=7, invalid_share=0.25, invalid_least=40)
    assert phase(after("invalid " * 7, thresholds=thresholds), NOW) == "open"
    some = "invalid " * 6 + "success " * 14
    assert phase(after(some, thresholds=thresholds), NOW) == "closed"
    assert phase(after(some + "success " * 10 + "invalid " * 3, thresholds=thresholds), NOW) == "closed"
    assert phase(after(some + "success " * 16 + "invalid " * 4, thresholds=thresholds), NOW) == "open"


def test_a_share_that_binary_cannot_hold_is_reached_exactly() -> None:
    thresholds = Thresholds(failures_in_row=1000, failure_share=0.55)
    assert phase(after(in_turn(("success", 9), ("failure", 11)), thresholds=thresholds), NOW) == "open"
    assert phase(after(in_turn(("success", 10), ("failure", 10)), thresholds=thresholds), NOW) == "closed"


@pytest.mark.parametrize("order", sorted(set(permutations("aab"))))
def test_the_order_of_what_makes_a_share_makes_no_difference(order: tuple[str, ...]) -> None:
    parts = {"a": "failure " * 5, "b": "success " * 10}
    assert phase(after("".join(parts[one] for one in order), thresholds=BY_SHARE), NOW) == "open"


def test_attempts_leave_the_window() -> None:
    half = after(in_turn(("success", 10), ("failure", 9)), thresholds=BY_SHARE)
    for age, expected in ((59_000, "open"), (60_000, "closed")):
        assert phase(after("failure", NOW + age, BY_SHARE, half), NOW + age) == expected


def test_it_is_open_until_the_millisecond() -> None:
    assert phase(OPENED, HALF_OPEN_AT - 1) == "open"
    assert phase(OPENED, HALF_OPEN_AT) == "half_open"
    assert phase(OPENED, HALF_OPEN_AT + 10**9) == "half_open"
    assert blocked_until(OPENED, HALF_OPEN_AT - 1, DEFAULTS) == HALF_OPEN_AT
    assert blocked_until(OPENED, HALF_OPEN_AT, DEFAULTS) is None
    assert [must_take_place(OPENED, HALF_OPEN_AT + step) for step in (-1, 0)] == [False, True]
    assert not must_take_place(Health(), NOW)


def test_a_late_report_does_not_change_an_open_circuit() -> None:
    for effect in ("success", "failure", "invalid", "none", "suppressed"):
        for now in (NOW + 1, HALF_OPEN_AT, HALF_OPEN_AT + MINUTE):
            health = observe(OPENED, seen(effect, now, decided_at=HALF_OPEN_AT - 1), now, DEFAULTS)
            assert health.circuit == OPENED.circuit


def test_one_place_at_a_time() -> None:
    one = taken(OPENED, "a", HALF_OPEN_AT)
    assert take_place(one, "b", HALF_OPEN_AT, DEFAULTS) is None
    assert take_place(one, "a", HALF_OPEN_AT + 1, DEFAULTS) is one
    assert blocked_until(one, HALF_OPEN_AT + 1, DEFAULTS) == HALF_OPEN_AT + 10 * SECOND
    assert take_place(one, "b", HALF_OPEN_AT + 9_999, DEFAULTS) is None
    assert blocked_until(one, HALF_OPEN_AT + 10_000, DEFAULTS) is None
    other = taken(one, "b", HALF_OPEN_AT + 10_000)
    assert [place.trace_id for place in other.circuit.places] == ["b"]


def test_places_are_only_of_half_open_circuits() -> None:
    assert take_place(OPENED, "a", HALF_OPEN_AT - 1, DEFAULTS) is None
    closed = Health()
    assert take_place(closed, "a", NOW, DEFAULTS) is closed


@pytest.mark.parametrize("effect", ["none", "suppressed"])
def test_a_report_frees_its_place_and_no_other(effect: str) -> None:
    held = taken(OPENED, "a", HALF_OPEN_AT)
    other = observe(held, seen(effect, HALF_OPEN_AT, trace_id="b"), HALF_OPEN_AT, DEFAULTS)
    assert take_place(other, "c", HALF_OPEN_AT, DEFAULTS) is None
    own = observe(held, seen(effect, HALF_OPEN_AT, trace_id="a"), HALF_OPEN_AT, DEFAULTS)
    assert phase(own, HALF_OPEN_AT) == "half_open"
    assert take_place(own, "c", HALF_OPEN_AT, DEFAULTS) is not None


def test_a_report_without_an_attempt_frees_the_place() -> None:
    held = taken(OPENED, "a", HALF_OPEN_AT)
    assert release(held, "b") is held
    assert take_place(release(held, "a"), "b", HALF_OPEN_AT, DEFAULTS) is not None


def test_fewer_places_by_a_new_configuration() -> None:
    many = Thresholds(probes=3)
    health = OPENED
    for step, trace_id in enumerate("abc"):
        health = taken(health, trace_id, HALF_OPEN_AT + step, many)
    now = HALF_OPEN_AT + 3
    assert blocked_until(health, now, many) == HALF_OPEN_AT + 10_000
    assert blocked_until(health, now, Thresholds(probes=2)) == HALF_OPEN_AT + 10_001
    assert blocked_until(health, now, Thresholds(probes=1)) == HALF_OPEN_AT + 10_002
    assert blocked_until(health, now, Thresholds(probes=4)) is None


def test_two_good_probes_close_it_and_it_begins_anew() -> None:
    health = after("success", HALF_OPEN_AT, health=OPENED)
    assert phase(health, HALF_OPEN_AT) == "half_open"
    health = after("success", HALF_OPEN_AT, health=health)
    assert phase(health, HALF_OPEN_AT) == "closed"
    assert phase(after("failure " * 4, HALF_OPEN_AT, health=health), HALF_OPEN_AT) == "closed"
    assert phase(after("failure " * 5, HALF_OPEN_AT, health=health), HALF_OPEN_AT) == "open"


def test_decisions_from_before_the_close_do_not_open_it_again() -> None:
    closed = after("success success", HALF_OPEN_AT, health=OPENED)
    late = closed
    for _ in range(30):
        late = observe(late, seen("failure", HALF_OPEN_AT, decided_at=HALF_OPEN_AT - 1), HALF_OPEN_AT, DEFAULTS)
    assert late.circuit == closed.circuit


@pytest.mark.parametrize("bad", ["failure", "invalid"])
def test_each_bad_probe_doubles_the_time_up_to_the_most(bad: str) -> None:
    health, now, lengths = OPENED, HALF_OPEN_AT, []
    for _ in range(6):
        health = after(bad, now, health=health)
        until = blocked_until(health, now, DEFAULTS)
        assert until is not None
        lengths.append((until - now) // SECOND)
        now = until
    assert lengths == [60, 120, 240, 300, 300, 300]
    again = after("failure " * 5, now, health=after("success success", now, health=health))
    assert blocked_until(again, now, DEFAULTS) == now + 30 * SECOND


def test_good_probes_have_to_be_in_a_row() -> None:
    now = HALF_OPEN_AT
    health = after("success failure", now, health=OPENED)
    now += MINUTE
    assert phase(after("success", now, health=health), now) == "half_open"
    assert phase(after("success none success", now, health=health), now) == "closed"


def test_a_probe_reported_after_its_place_ran_out_counts() -> None:
    health = OPENED
    for number in range(2):
        now = HALF_OPEN_AT + number * MINUTE
        health = taken(health, f"a{number}", now)
        report = seen("success", now + 50 * SECOND, trace_id=f"a{number}", decided_at=now)
        health = observe(health, report, now + 50 * SECOND, DEFAULTS)
    assert phase(health, HALF_OPEN_AT + 2 * MINUTE) == "closed"


def test_of_many_probes_at_once_the_first_bad_one_decides() -> None:
    many = Thresholds(probes=3, good_probes=3)
    health = OPENED
    for trace_id in "abc":
        health = taken(health, trace_id, HALF_OPEN_AT, many)
    now = HALF_OPEN_AT + 5
    for trace_id, effect in (("a", "success"), ("b", "failure"), ("c", "failure")):
        health = observe(health, seen(effect, now, trace_id=trace_id, decided_at=HALF_OPEN_AT), now, many)
    assert blocked_until(health, now, many) == now + MINUTE
    assert not health.circuit.places


def test_failures_that_ended_before_a_success_are_not_the_next_in_a_row() -> None:
    health = after("success", NOW)
    for age in range(1, 8):
        health = observe(health, seen("failure", NOW - age * MINUTE), NOW + age, DEFAULTS)
    assert phase(health, NOW + 8) == "closed"


def test_a_success_told_late_breaks_the_row_where_it_happened() -> None:
    health = Health()
    for step in (1, 2, 4, 5):
        health = observe(health, seen("failure", NOW + step), NOW + step, DEFAULTS)
    health = observe(health, seen("success", NOW + 3), NOW + 6, DEFAULTS)
    assert phase(after("failure failure", NOW + 7, health=health), NOW + 7) == "closed"
    assert phase(after("failure failure failure", NOW + 7, health=health), NOW + 7) == "open"


def test_failures_told_late_and_together_open_it_where_nothing_newer_is_known() -> None:
    health = Health()
    for age in range(5):
        health = observe(health, seen("failure", NOW - (5 + age) * MINUTE), NOW, DEFAULTS)
    assert phase(health, NOW) == "open"


@pytest.mark.parametrize("back", [1, 20 * SECOND, 31 * SECOND, 10 * MINUTE, 10**9])
def test_a_clock_set_back_prolongs_an_open_circuit_by_no_more_than_its_time(back: int) -> None:
    now = NOW - back
    until = blocked_until(OPENED, now, DEFAULTS)
    assert until is None or until - now <= 60 * SECOND
    now = until or now
    health = OPENED
    for trace_id in "ab":
        health = taken(health, trace_id, now)
        now += 15 * SECOND
        health = observe(health, seen("success", now, trace_id=trace_id, decided_at=now - 15 * SECOND), now, DEFAULTS)
    assert phase(health, now) == "closed"


@pytest.mark.parametrize("back", [1, 20 * SECOND, 31 * SECOND, 10 * MINUTE, 10**9])
def test_a_clock_set_back_does_not_keep_a_circuit_from_opening(back: int) -> None:
    closed = after("success success", HALF_OPEN_AT, health=OPENED)
    healthy = after("success " * 3, HALF_OPEN_AT, health=closed)
    now = HALF_OPEN_AT - back
    assert phase(after("failure " * 5, now, health=healthy), now) == "open"


def test_a_row_from_before_the_clock_was_set_back_is_broken_by_a_success_since() -> None:
    health = after("success", NOW - 10 * MINUTE, health=after("failure " * 4))
    assert phase(after("failure", NOW - 9 * MINUTE, health=health), NOW) == "closed"


def test_a_probe_is_known_by_its_place_where_the_clock_was_set_back_since() -> None:
    health = OPENED
    for trace_id in "ab":
        health = taken(health, trace_id, HALF_OPEN_AT)
        told = seen("success", HALF_OPEN_AT - 1, trace_id=trace_id, decided_at=HALF_OPEN_AT)
        health = observe(health, told, HALF_OPEN_AT - 1, DEFAULTS)
    assert phase(health, HALF_OPEN_AT) == "closed"


def test_a_decision_from_before_the_clock_was_set_back_is_no_probe() -> None:
    told = seen("failure", NOW + 1, decided_at=NOW + 60 * MINUTE)
    assert observe(OPENED, told, NOW + 1, DEFAULTS).circuit == OPENED.circuit


@pytest.mark.parametrize("silence", [DEFAULTS.forget_ms, -DEFAULTS.forget_ms])
def test_after_a_long_silence_a_row_begins_anew(silence: int) -> None:
    now = NOW + silence
    assert phase(after("failure", now, health=after("failure " * 4)), now) == "closed"


def test_after_a_long_silence_an_open_circuit_is_still_to_be_probed() -> None:
    now = NOW + 2 * DEFAULTS.forget_ms
    health = after("none", now, health=OPENED)
    assert phase(health, now) == "half_open"
    assert blocked_until(after("failure", now, health=health), now, DEFAULTS) == now + MINUTE
