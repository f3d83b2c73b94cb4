"""Thresholds: the spec's defaults, and every problem of a configuration at once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from router_service.domain.problems import InvalidValue
from router_service.domain.thresholds import FIELDS, Thresholds


def test_the_table_and_the_value_have_the_same_fields_and_the_defaults_pass_it() -> None:
    defaults = msgspec.structs.asdict(Thresholds())
    assert list(defaults) == list(FIELDS)
    assert Thresholds.read(defaults) == Thresholds.read({}) == Thresholds()


def test_the_defaults_are_the_documented_ones() -> None:
    one = Thresholds()
    assert (one.failures_in_row, one.failure_share, one.least_attempts, one.window_ms) == (5, 0.5, 20, 60_000)
    assert (one.invalid_in_row, one.invalid_share, one.invalid_least) == (10, 0.5, 20)
    assert (one.open_ms, one.open_max_ms) == (30_000, 300_000)
    assert (one.probes, one.probe_ms, one.good_probes) == (1, 10_000, 2)
    assert (one.rate_limited_ms, one.refused_ms) == (10_000, 300_000)
    assert (one.half_life_ms, one.least_observations, one.forget_ms) == (300_000, 5, 1_800_000)


@pytest.mark.parametrize(
    "raw",
    [
        {name: value}
        for name in FIELDS
        for value in (-1, "many", float("nan"), 10**9, *((0,) if name not in ("rate_limited_ms", "refused_ms") else ()))
    ],
    ids=str,
)
def test_what_makes_no_sense_is_named(raw: dict[str, object]) -> None:
    with pytest.raises(InvalidValue) as caught:
        Thresholds.read(raw)
    assert [problem.field for problem in caught.value.problems] == list(raw)


def test_every_problem_is_told_at_once() -> None:
    raw = {"failures": 3, "failure_share": 1.5, "open_ms": 60_000, "open_max_ms": 59_999, "window_ms": 500}
    with pytest.raises(InvalidValue) as caught:
        Thresholds.read(raw)
    told = {problem.field: str(problem) for problem in caught.value.problems}
    assert set(told) == {"failures", "failure_share", "window_ms", "open_max_ms"}
    assert "did you mean" in told["failures"]
    assert told["open_max_ms"] == "open_max_ms: 59999 is less than open_ms, which is 60000; use at least 60000"


def test_what_contradicts_a_default_is_told_where_it_was_written() -> None:
    with pytest.raises(InvalidValue) as caught:
        Thresholds.read({"open_ms": 600_000, "forget_ms": 30_000})
    assert [problem.field for problem in caught.value.problems] == ["open_ms", "forget_ms"]
    assert "raise open_max_ms too" in str(caught.value)
    assert Thresholds.read({"open_ms": 600_000, "open_max_ms": 600_000}).open_max_ms == 600_000


def test_a_field_that_is_wrong_by_itself_contradicts_nothing() -> None:
    with pytest.raises(InvalidValue) as caught:
        Thresholds.read({"open_ms": 600_000, "open_max_ms": "long"})
    assert [problem.field for problem in caught.value.problems] == ["open_max_ms"]


@pytest.mark.parametrize("fields", [{"open_max_ms": 29_999}, {"forget_ms": 59_999}])
def test_no_value_contradicts_itself(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        Thresholds(**fields)
