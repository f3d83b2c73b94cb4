"""Rows: an attempt stands in one by when it began, where that is told; and what of a probe counts once."""

from __future__ import annotations

import msgspec

from router_service.health.circuit import CLOSED, HALF_OPEN, OPEN
from router_service.health.effects import FAILURE, SUCCESS
from router_service.health.state import Health, observe, phase
from tests.health.events import DEFAULTS, NOW, after, seen


def test_an_answer_that_began_before_an_outage_does_not_break_its_row() -> None:
    health = Health()
    for number in range(4):
        failed = seen(FAILURE, NOW + number, decided_at=NOW - 1000, began=NOW + number)
        health = observe(health, failed, NOW + number, DEFAULTS)
    old = seen(SUCCESS, NOW + 10, decided_at=NOW - 1000, began=NOW - 500)
    health = observe(health, old, NOW + 10, DEFAULTS)
    assert phase(health, NOW + 10) == CLOSED
    fifth = seen(FAILURE, NOW + 11, decided_at=NOW - 1000, began=NOW + 11)
    assert phase(observe(health, fifth, NOW + 11, DEFAULTS), NOW + 11) == OPEN
    new = seen(SUCCESS, NOW + 10, decided_at=NOW - 1000, began=NOW + 5)
    assert phase(observe(observe(health, new, NOW + 10, DEFAULTS), fifth, NOW + 11, DEFAULTS), NOW + 11) == CLOSED


def test_a_beginning_that_cannot_be_is_read_as_the_nearest_that_can() -> None:
    one = seen(FAILURE, NOW, decided_at=NOW - 100)
    assert msgspec.structs.replace(one, began=NOW + 5).by(NOW).began == NOW
    assert msgspec.structs.replace(one, began=0).by(NOW).began == NOW - 100
    assert one.by(NOW).began is None


def test_two_attempts_of_one_decision_are_one_probe() -> None:
    health = after("failure " * 5)
    half_open = NOW + DEFAULTS.open_ms
    for _ in range(3):
        health = observe(health, seen(SUCCESS, half_open, trace_id="one"), half_open, DEFAULTS)
        assert phase(health, half_open) == HALF_OPEN
    health = observe(health, seen(SUCCESS, half_open, trace_id="another"), half_open, DEFAULTS)
    assert phase(health, half_open) == CLOSED
