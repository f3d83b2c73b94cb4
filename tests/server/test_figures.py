"""Observed figures reach decisions and lists, and every decision is told again with those that it was made with."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.explanation_pb2 import Explanation
from router_service.v1.trace_pb2 import Trace
from tests.server.live import (
    CATALOG,
    FAILED,
    LIMITED,
    OPEN_MS,
    Live,
    figures,
    ids,
    serving,
    told_of,
    trace_of,
    until,
    without_trace,
)

FORGOTTEN_MS = 30 * 60_000


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    async with serving(tmp_path) as server:
        yield server


async def needs(live: Live, need_ms: int, endpoint_id: str = "a") -> bool:
    """Whether decisions count with this for an endpoint."""
    answer = await live.decide()
    return any((one.endpoint_id, one.need_ms) == (endpoint_id, need_ms) for one in answer.decision.candidates)


async def observed(live: Live, endpoint_id: str = "a", latency_ms: int = 320, times: int = 5) -> None:
    """Reports successes until decisions count with their latency."""
    await live.tell(endpoint_id, times, time_to_first_token_ms=latency_ms, latency_ms=latency_ms + 900)
    await until(lambda: needs(live, latency_ms + 100, endpoint_id))


async def test_five_reports_make_a_figure_and_four_do_not(live: Live) -> None:
    await live.tell("a", 4, time_to_first_token_ms=320)
    assert not (await live.serves("a")).HasField("observed_latency_ms")
    await live.tell("a", time_to_first_token_ms=320)
    served = await live.serves("a")
    assert (served.observed_latency_ms, served.observed_error_rate) == (320, 0.0)
    assert served.endpoint.latency_ms == 600
    assert served.reported_at.ToMilliseconds() == live.now
    await until(lambda: needs(live, 420))
    assert not (await live.serves("b")).HasField("reported_at")


async def test_an_observed_latency_moves_the_ranking_and_the_deadline_rule(live: Live) -> None:
    await observed(live, "a", 9000)
    answer = await live.decide(deadline_ms=8000)
    assert ids(answer)[0] == "b"
    assert answer.decision.reasons == {"deadline_unreachable": 1}
    await live.tell("b", 4, **FAILED)
    await live.tell("b", 4, latency_ms=700)

    async def counts() -> bool:
        return "error_rate" in figures(await live.explain(), "b")

    await until(counts)
    told = await live.explain()
    assert figures(told, "b")["error_rate"] == ("0.5", "", "observed")
    assert told_of(told, "b").terms.error_rate.weighted < told_of(told, "c").terms.error_rate.weighted


async def test_half_an_hour_without_a_report_gives_the_catalogues_figures_back(live: Live) -> None:
    await observed(live)
    live.now += FORGOTTEN_MS - 1
    assert (await live.serves("a")).observed_latency_ms == 320
    live.now += 1
    assert not (await live.serves("a")).HasField("observed_latency_ms")
    await until(lambda: needs(live, 700))
    assert figures(await live.explain(), "a") == {}


async def test_an_explanation_tells_what_was_not_the_catalogues(live: Live) -> None:
    assert figures(await live.explain(), "a") == {}
    await observed(live)
    told = await live.explain()
    assert figures(told, "a") == {
        "latency_ms": ("320", "600", "observed"),
        "error_rate": ("0", "0.01", "observed"),
    }
    assert figures(told, "b") == {}
    await live.tell("b", retry_after_ms=40_000, **LIMITED)
    await live.set_status("c", "degraded")
    told = await live.explain()
    assert figures(told, "b") == {"suppressed_until": ("2027-01-15T08:00:40Z", "", "circuit")}
    assert figures(told, "c") == {"status": ("degraded", "up", "by_hand")}
    live.now += 40_000
    assert figures(await live.explain(), "b") == {}


class Told:
    """Decisions with what an explanation said of each when it was made."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self.explanations: dict[str, Explanation] = {}

    async def decide(self, policy_id: str = "", **request: object) -> pb.DecideResponse:
        await self._live.show()  # so that no figure changes between the two calls
        before = await self._live.explain(policy_id=policy_id, **request)
        answer = await self._live.decide(policy_id, **request)
        self.explanations[trace_of(answer)] = before
        return answer

    async def hold(self, live: Live) -> None:
        """Each is told again word for word, and its trace says the same."""
        for trace_id, before in self.explanations.items():
            again = await live.explain(trace_id)
            assert without_trace(again) == before
            trace: Trace = (await live.router.GetTrace(pb.GetTraceRequest(trace_id=trace_id))).trace
            assert (trace.decision, trace.refusal) == (again.decision, again.refusal)
            assert again.decision.trace_id + again.refusal.trace_id == trace_id


async def decided(live: Live) -> Told:
    """Decisions at every turn of the health of the endpoints."""
    told = Told(live)
    await told.decide()
    await observed(live)
    await told.decide(input_tokens=100, output_tokens=7)
    await live.tell("a", 5, **FAILED)
    assert ids(await told.decide()) == ["b", "c"]
    live.now += 5
    await told.decide()
    await live.set_status("b", "maintenance", "disk")
    assert ids(await told.decide()) == ["c"]
    await live.tell("c", retry_after_ms=40_000, **LIMITED)
    assert (await told.decide()).refusal.code == "no_endpoint_available"
    live.now += OPEN_MS
    assert ids(await told.decide()) == ["a"]  # a probe
    assert (await told.decide()).refusal.code == "no_endpoint_available"
    assert (await told.decide("daily")).refusal.code == "no_endpoint_available"
    live.now += 10_000
    await live.set_status("b", "")
    assert sorted(ids(await told.decide("daily"))) == ["a", "b", "c"]
    return told


async def test_a_decision_is_told_again_word_for_word_whatever_became_of_circuits_and_figures(live: Live) -> None:
    told = await decided(live)
    await told.hold(live)
    live.now += 3 * FORGOTTEN_MS
    await live.tell("a", 7, time_to_first_token_ms=77)
    await until(lambda: needs(live, 177))
    await told.hold(live)


async def test_it_is_after_a_restart_and_after_another_catalogue_too(tmp_path: Path) -> None:
    async with serving(tmp_path) as live:
        told = await decided(live)
        for text in (CATALOG.replace("600", "650"), CATALOG.replace("endpoint_id: a", "endpoint_id: new")):
            await live.serve(text)
            await told.hold(live)
        now = live.now
    async with serving(tmp_path, CATALOG.replace("endpoint_id: b", "endpoint_id: z"), now=now) as live:
        await told.hold(live)


async def test_a_probe_that_was_left_is_told_as_it_was_decided(tmp_path: Path) -> None:
    """Under a budget, a decision knows of places that the list has no use for; its trace tells them too."""
    async with serving(tmp_path, CATALOG + "circuits: {least_observations: 1000}\n") as live:
        await live.tell("a", 5, **FAILED)
        await live.tell("b", 5, **FAILED)
        live.now += OPEN_MS
        answer = await live.decide("daily", max_attempts=1)
        assert ids(answer) == ["a"]
        again = await live.explain(trace_of(answer))
        assert again.decision == answer.decision
        [by] = told_of(again, "b").refused_by
        assert by.reason == "circuit_open"
        assert figures(again, "b")["suppressed_until"][2] == "circuit"


async def test_a_reload_keeps_circuits_and_figures(live: Live) -> None:
    await observed(live)
    await live.tell("b", 5, **FAILED)
    before = [await live.serves(one) for one in "ab"]
    await live.serve(CATALOG + "- {policy_id: more}\ncircuits: {open_ms: 5000}\n")
    assert [await live.serves(one) for one in "ab"] == before
    assert ids(await live.decide("more")) == ["a", "c"]
    assert await needs(live, 420)
    # From now on the new thresholds hold; what is open stays as long as it was to be.
    await live.tell("c", 5, **FAILED)
    assert (await live.serves("c")).suppressed_until.ToMilliseconds() == live.now + 5000
    live.now += OPEN_MS - 1
    assert ids(await live.decide("more")) == ["a", "c"]


async def test_a_restart_keeps_circuits_and_figures_in_the_store(tmp_path: Path) -> None:
    """Also what was reported in the last moment before it."""
    async with serving(tmp_path) as live:
        await observed(live)
        await live.tell("b", 5, **FAILED)
        before = [await live.serves(one) for one in "abc"]
    async with serving(tmp_path) as live:
        assert ids(await live.decide()) == ["a", "c"]
        assert await needs(live, 420)
        assert [await live.serves(one) for one in "abc"] == before


async def test_without_a_store_nothing_is_learned(tmp_path: Path) -> None:
    async with serving(tmp_path, store="") as live:
        answer = await live.decide()
        with contextlib.suppress(grpc.aio.AioRpcError):
            await live.report(trace_of(answer), "a", **FAILED)
            raise AssertionError("there is no store to report to")
        assert (await live.serves("a")).circuit == "closed"
