"""The window against a plain list of all attempts, which says to the millisecond what a bucket of a second means."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from router_service.health.window import BUCKET_MS, Bucket, Run, Window, counted, total
from tests.health.events import NOW

KINDS = {"success": Bucket(0, 1), "failure": Bucket(0, 1, 1), "invalid": Bucket(0, 1, 0, 1)}
WINDOWS = st.sampled_from([1000, 1500, 5000, 60_000])
# Steps of the clock and ages of reports, dense around whole seconds.
STEPS = st.one_of(
    st.integers(0, 3), st.integers(0, 3000), st.sampled_from([999, 1000, 1001, 4999, 5000, 59_999, 60_000])
)
EVENTS = st.lists(st.tuples(STEPS, STEPS, st.sampled_from(list(KINDS))), max_size=40)


def bucket(kind: str, at: int) -> Bucket:
    return Bucket(at // BUCKET_MS) + KINDS[kind]


class Oracle:
    """All attempts ever, as (at, kind). One counts by when its whole second of the clock began."""

    def __init__(self, window_ms: int) -> None:
        self.window_ms = window_ms
        self.attempts: list[tuple[int, str]] = []

    def total(self, now: int) -> tuple[int, int, int]:
        kinds = [kind for at, kind in self.attempts if at - at % 1000 > now - self.window_ms]
        return len(kinds), kinds.count("failure"), kinds.count("invalid")


@settings(max_examples=150)
@given(WINDOWS, st.integers(0, 2000), EVENTS)
def test_buckets_count_what_a_list_of_all_attempts_counts(
    window_ms: int, offset: int, events: list[tuple[int, int, str]]
) -> None:
    oracle, window, now = Oracle(window_ms), Window(), NOW + offset
    for step, age, kind in events:
        now += step
        oracle.attempts.append((now - age, kind))
        window = counted(window, now, window_ms, bucket(kind, now - age))
        found = total(window)
        assert (found.attempts, found.failures, found.invalid) == oracle.total(now)
        assert [one.second for one in window] == sorted({one.second for one in window})
        assert len(window) <= -(-window_ms // 1000)


@settings(max_examples=100)
@given(WINDOWS, st.integers(0, 999), st.integers(0, 70_000))
def test_an_attempt_counts_for_the_window_less_a_second_at_least_and_never_longer(
    window_ms: int, offset: int, age: int
) -> None:
    now = NOW + offset
    counts = total(counted((), now, window_ms, bucket("failure", now - age))).attempts
    assert counts or age > window_ms - 1000
    assert not counts or age < window_ms


def test_the_millisecond() -> None:
    window = counted((), NOW, 60_000, bucket("failure", NOW))
    assert total(counted(window, NOW + 59_999, 60_000)).attempts == 1
    assert total(counted(window, NOW + 60_000, 60_000)).attempts == 0


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(-100_000, 100_000), st.sampled_from(list(KINDS))), max_size=30))
def test_a_clock_set_back_loses_nothing_and_keeps_nothing_for_longer_than_the_window(
    events: list[tuple[int, str]],
) -> None:
    window: Window = ()
    for step, kind in events:
        window = counted(window, NOW + step, 60_000, bucket(kind, NOW + step))
        assert all(one.second * 1000 <= NOW + step for one in window)
    before = NOW - 200_000
    assert total(counted(window, before, 60_000)) == total(window)
    assert counted(counted(window, before, 60_000), before + 60_000, 60_000) == ()


@settings(max_examples=150)
@given(st.permutations([(at, good) for at in range(6) for good in (False,)] + [(2.5, True), (4.5, True)]))
def test_a_run_is_the_same_in_whatever_order_it_is_told(events: list[tuple[float, bool]]) -> None:
    run = Run()
    for at, good in events:
        instant = NOW + int(at * 10)
        run = run.with_good(instant, NOW + 100) if good else run.with_bad(instant, NOW + 100, 5)
    assert run == Run(NOW + 45, (NOW + 50,))


def test_a_run_keeps_the_latest() -> None:
    run = Run()
    for at in (5, 1, 4, 2, 3):
        run = run.with_bad(at, 9, 3)
    assert run.bad == (3, 4, 5)


def test_a_run_under_a_clock_set_back_is_as_of_now() -> None:
    ahead = Run(100).with_bad(110, 110, 5).with_bad(120, 120, 5)
    assert ahead.with_good(50, 50) == Run(50)
    good_ahead = Run().with_good(100, 100).with_good(50, 50)
    assert good_ahead.with_bad(59, 60, 5) == Run(50, (59,))
