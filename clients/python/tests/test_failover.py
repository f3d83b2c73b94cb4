"""What holds of every run, whatever backends do."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clients.python.tests.scripted import World
from router_service_client import Candidate, Seen, classify
from router_service_client.attempts import Answered, Call, Failed
from router_service_client.failover import Failover
from router_service_client.runtime import Clocks
from router_service_client.seen import KINDS

CANDIDATES = st.lists(
    st.builds(
        Candidate, need_ms=st.integers(0, 3000), context_window=st.one_of(st.none(), st.sampled_from([4096, 8192]))
    ),
    min_size=1,
    max_size=3,
)
CONTEXT = {"error": {"code": "context_length_exceeded"}}
SEEN = st.one_of(
    st.sampled_from([Seen(kind) for kind in KINDS if kind not in {"http", "grpc"}]),
    st.builds(
        Seen,
        st.just("http"),
        st.sampled_from([400, 401, 404, 429, 503]),
        st.sampled_from([{}, {"retry-after": "0"}, {"retry-after": "1"}, {"x-should-retry": "false"}]),
        st.sampled_from([None, CONTEXT]),
    ),
)
BACKENDS = st.lists(st.tuples(st.integers(0, 4000), st.one_of(st.none(), SEEN)), min_size=3, max_size=3)


@given(
    candidates=CANDIDATES,
    backends=BACKENDS,
    spendable=st.one_of(st.none(), st.integers(0, 9000)),
    most=st.integers(1, 3),
    replayable=st.booleans(),
    draws=st.lists(st.floats(0, 1, exclude_max=True), min_size=9, max_size=9),
)
def test_what_holds_of_every_run(
    candidates: list[Candidate],
    backends: list[tuple[int, Seen | None]],
    spendable: int | None,
    most: int,
    replayable: bool,
    draws: list[float],
) -> None:
    for number, one in enumerate(candidates):
        one.endpoint_id = str(number)
    world = World(draws, datetime(2026, 11, 30, tzinfo=UTC))
    clocks = Clocks(clock=world.clock, now=world.now, random=world.random)
    failover = Failover(candidates, clocks, world.clock(), spendable, most, replayable)
    steps, ended, last = failover.steps(), None, None
    calls: list[Any] = []
    while True:
        try:
            step = steps.send(ended)
        except StopIteration as done:
            outcome = done.value
            break
        ended = None
        if not isinstance(step, Call):
            assert calls, "nobody waits before the first attempt"
            assert 0 < step.ms <= 60_000
            world.gone_ms += step.ms
            continue
        attempt = step.attempt
        assert last is None or classify(last, world.now()).then != "stop"
        assert replayable or last is None or last.kind != "lost"
        if spendable is not None:
            assert attempt.timeout_ms is not None
            assert attempt.candidate.need_ms <= attempt.timeout_ms <= spendable - world.gone_ms
        takes, last = backends[len(calls)]
        calls.append(attempt.endpoint_id)
        world.gone_ms += takes
        ended = Answered() if last is None else Failed(last)
    assert len(calls) <= most
    assert [one.endpoint_id for one in failover.attempts] == calls
    assert set(calls) <= {one.endpoint_id for one in candidates}
    assert (outcome == "accepted") == (bool(calls) and last is None)
    firsts = [one for place, one in enumerate(calls) if one not in calls[:place]]
    assert firsts == sorted(firsts), "down the list"


def test_a_moment_that_goes_by_before_the_call_never_lifts_the_time_out() -> None:
    """The clock goes on by a millisecond each time that it is read: the need fits no more once the call is to begin."""
    ticks = iter(range(1000))
    clocks = Clocks(clock=lambda: next(ticks) / 1000)
    for spendable in range(500, 520):
        failover = Failover([Candidate(need_ms=500)], clocks, clocks.clock(), spendable)
        step = next(failover.steps(), None)
        assert step is None or (isinstance(step, Call) and (step.attempt.timeout_ms or 0) >= 500)
