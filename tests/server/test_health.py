"""What is reported reaches decisions: circuits open, half-open and close, and pauses are kept (cases 25 to 29)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.route_pb2 import RouteRequest
from tests.server.live import CATALOG, FAILED, LIMITED, OPEN_MS, REFUSED, Live, ids, serving, trace_of

PLACE_MS = 10_000
# No figure is observed, which would move the ranking meanwhile.
CIRCUITS = "circuits: {{least_observations: 1000, probes: {}}}\n"


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    async with serving(tmp_path, CATALOG + CIRCUITS.format(1)) as server:
        yield server


async def opened(live: Live, endpoint_id: str = "a") -> None:
    """Opens a circuit, and lets its time go by."""
    await live.tell(endpoint_id, 5, **FAILED)
    live.now += OPEN_MS


async def probes(live: Live, policy_id: str = "", count: int = 100, **request: object) -> list[str]:
    """The traces of those of so many decisions at once that list endpoint a."""
    answers = await asyncio.gather(*(live.decide(policy_id, **request) for _ in range(count)))
    assert all(answer.HasField("decision") for answer in answers)
    return [trace_of(answer) for answer in answers if "a" in ids(answer)]


async def test_the_fifth_failure_in_a_row_leaves_an_endpoint_out_of_the_very_next_decision(live: Live) -> None:
    for number in range(5):
        assert ids(await live.decide()) == ["a", "b", "c"], number
        await live.tell("a", **FAILED)
    assert ids(await live.decide()) == ["b", "c"]
    served = await live.serves("a")
    assert (served.circuit, served.suppressed_until.ToMilliseconds()) == ("open", live.now + OPEN_MS)
    live.now += OPEN_MS - 1
    assert ids(await live.decide()) == ["b", "c"]
    live.now += 1
    assert ids(await live.decide()) == ["a", "b", "c"]


async def test_case_28_twenty_five_failures_in_a_row(live: Live) -> None:
    answers = [await live.decide() for _ in range(25)]
    for answer in answers:
        await live.report(trace_of(answer), "a", **FAILED)
    assert ids(await live.decide()) == ["b", "c"]


async def test_case_25_the_callers_own_time_out_counts_against_nothing(live: Live) -> None:
    """Endpoint a needs 700 ms."""
    await live.tell("a", 25, failure_class="ambiguous", timeout_ms=100, latency_ms=100)
    assert ids(await live.decide()) == ["a", "b", "c"]
    served = await live.serves("a")
    assert (served.circuit, served.HasField("observed_error_rate")) == ("closed", False)
    await live.tell("a", 5, failure_class="ambiguous", timeout_ms=700, latency_ms=700)
    assert ids(await live.decide()) == ["b", "c"]


async def test_case_26_low_credit_leaves_the_endpoint_out_and_a_wrong_request_does_not(live: Live) -> None:
    await live.tell("a", 25, failure_class="permanent", status_code=400, error_code="invalid_request_error")
    assert ids(await live.decide()) == ["a", "b", "c"]
    await live.tell("a", failure_class="permanent", status_code=400, error_code="credit balance is too low")
    assert ids(await live.decide()) == ["b", "c"]
    live.now += 300_000
    assert ids(await live.decide()) == ["a", "b", "c"]


async def test_case_27_of_two_pauses_the_later_end_holds(live: Live) -> None:
    answers = [await live.decide() for _ in range(2)]
    await live.report(trace_of(answers[0]), "a", retry_after_ms=60_000, **LIMITED)
    await live.report(trace_of(answers[1]), "a", **FAILED)
    live.now += 59_999
    assert ids(await live.decide()) == ["b", "c"]
    live.now += 1
    assert ids(await live.decide()) == ["a", "b", "c"]


async def test_case_29_a_refusal_says_when_the_first_comes_back(live: Live) -> None:
    await live.tell("b", **REFUSED)
    await live.tell("c", **REFUSED)
    await live.tell("a", retry_after_ms=40_000, **LIMITED)
    refusal = (await live.decide()).refusal
    assert (refusal.code, refusal.transient, refusal.http_status) == ("no_endpoint_available", True, 503)
    assert refusal.reasons == {"circuit_open": 3}
    assert refusal.retry_after.ToMilliseconds() == 40_000
    live.now += 15_000
    assert (await live.decide()).refusal.retry_after.ToMilliseconds() == 25_000
    live.now += 25_000
    assert ids(await live.decide()) == ["a"]


@pytest.mark.parametrize("places", [1, 3])
async def test_a_half_open_endpoint_is_listed_by_as_many_decisions_as_it_has_places(
    tmp_path: Path, places: int
) -> None:
    async with serving(tmp_path, CATALOG + CIRCUITS.format(places)) as live:
        await opened(live)
        for _ in range(2):
            traces = await probes(live)
            assert len(traces) == places
            assert (await live.serves("a")).circuit == "half_open"
            assert await probes(live) == []
            # A report frees the place of its own decision alone.
            await live.report(traces[0], "b")
            assert len(await probes(live)) == 1
            live.now += PLACE_MS - 1
            assert await probes(live) == []
            live.now += 1


async def test_two_good_probes_close_it_and_a_bad_one_doubles_its_time(live: Live) -> None:
    await opened(live)
    [trace_id] = await probes(live)
    await live.report(trace_id, "a", **FAILED)
    assert await probes(live) == []
    live.now += 2 * OPEN_MS - 1
    assert await probes(live) == []
    live.now += 1
    for _ in range(2):
        [trace_id] = await probes(live)
        await live.report(trace_id, "a", latency_ms=50, status_code=200)
    assert len(await probes(live)) == 100
    assert (await live.serves("a")).circuit == "closed"


async def test_the_report_of_a_place_that_ran_out_still_counts(live: Live) -> None:
    await opened(live)
    for _ in range(2):
        [trace_id] = await probes(live)
        live.now += PLACE_MS + 60_000
        await live.report(trace_id, "a", status_code=200)
    assert (await live.serves("a")).circuit == "closed"


async def test_a_stream_obeys_the_same(live: Live) -> None:
    items = [pb.DecideStreamRequest(decide=pb.DecideRequest(request_id=str(number))) for number in range(40)]

    async def streamed() -> list[list[str]]:
        return [[c.endpoint_id for c in one.decision.candidates] async for one in live.router.DecideStream(iter(items))]

    assert await streamed() == [["a", "b", "c"]] * 40
    await live.tell("a", 5, **FAILED)
    assert await streamed() == [["b", "c"]] * 40
    live.now += OPEN_MS
    many = await asyncio.gather(*(streamed() for _ in range(5)))
    assert sum("a" in listed for stream in many for listed in stream) == 1


async def test_explain_takes_no_place(live: Live) -> None:
    await opened(live)
    for _ in range(5):
        told = await live.explain()
        assert [one.endpoint_id for one in told.decision.candidates] == ["a", "b", "c"]
    [_] = await probes(live)
    told = await live.explain()
    assert [one.endpoint_id for one in told.decision.candidates] == ["b", "c"]


COUNTED = {"input_tokens": 600, "output_tokens": 400}  # a cent


@pytest.mark.parametrize("asked", [COUNTED, {}], ids=["asking", "without counts"])
async def test_under_a_daily_budget_places_are_the_same(live: Live, asked: dict[str, int]) -> None:
    await opened(live)
    [trace_id] = await probes(live, "daily", 60, **asked)
    assert await probes(live, "daily", 60, **asked) == []
    await live.report(trace_id, "a", status_code=200)
    [trace_id] = await probes(live, "daily", 60, **asked)
    await live.report(trace_id, "a", status_code=200)
    assert len(await probes(live, "daily", 60, **asked)) == 60


async def test_out_of_a_lease_places_are_the_same(live: Live) -> None:
    """A policy that is busy reserves ahead, and its decisions ask no store."""
    await opened(live)
    for _ in range(5):
        await asyncio.gather(*(live.decide("daily", exclude_endpoints=["a"], **COUNTED) for _ in range(40)))
        await asyncio.sleep(0.05)
    assert live.leases == {"daily"}
    [trace_id] = await probes(live, "daily", 60, **COUNTED)
    assert await probes(live, "daily", 60, **COUNTED) == []
    await live.report(trace_id)
    assert len(await probes(live, "daily", 60, **COUNTED)) == 1
    assert live.leases == {"daily"}


async def test_a_place_that_the_budget_makes_useless_is_free_again(tmp_path: Path) -> None:
    """Endpoint a costs too much for what is left of the day, so the decision that took its place does not list it."""
    catalog = CATALOG.replace("input_price: 10, output_price: 10", "input_price: 9000, output_price: 9000", 1)
    catalog += "- {policy_id: poor, daily_budget: 1}\n" + CIRCUITS.format(1)
    async with serving(tmp_path, catalog) as live:
        await opened(live)
        answer = await live.decide("poor", **COUNTED)
        assert ids(answer) == ["b", "c"]
        assert answer.decision.reasons == {"cost_above_limit": 1}
        answers = await asyncio.gather(*(live.decide("poor", **COUNTED) for _ in range(20)))
        assert all(ids(answer) == ["b", "c"] for answer in answers)
        [_] = await probes(live)


async def test_a_request_that_excludes_a_half_open_endpoint_takes_no_place_of_it(live: Live) -> None:
    await opened(live)
    for policy_id in ("eu", "daily"):
        answer = await live.router.Decide(
            pb.DecideRequest(policy_id=policy_id, request=RouteRequest(exclude_endpoints=["a"], **COUNTED))
        )
        assert ids(answer) == ["b", "c"]
    [_] = await probes(live)
