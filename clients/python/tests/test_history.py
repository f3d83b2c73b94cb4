"""Reports and traces of a real server, through the clients of both kinds."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from router_service_client import (
    AsyncRouterClient,
    Attempt,
    EndpointNotListed,
    InvalidRequest,
    Report,
    ReportFields,
    RouterClient,
    RouteRequest,
    RouterUnavailable,
    TraceNotFound,
    candidates,
)
from router_service_client.messages import explain_request, report_message, timestamp

NOBODYS = "0" * 32


class Decided:
    """A decision of a client, its first candidate, and attempts on that."""

    def __init__(self, router: RouterClient) -> None:
        self.operation_id = uuid.uuid4().hex
        answer = router.decide(task="coding", input_tokens=100, data_class="health", operation_id=self.operation_id)
        self.decision = answer.decision
        self.trace_id = answer.decision.trace_id
        self.endpoint_id = candidates(answer)[0].endpoint_id

    def attempt(self, attempt_id: str, **fields: Any) -> Attempt:
        return Attempt(attempt_id=attempt_id, endpoint_id=self.endpoint_id, **fields)


@pytest.fixture
def decided(router: RouterClient) -> Decided:
    return Decided(router)


def test_a_report_is_taken_once(router: RouterClient, decided: Decided) -> None:
    attempts = [decided.attempt("1", failure_class="transient"), decided.attempt("2", latency_ms=0)]
    taken = router.report(trace_id=decided.trace_id, outcome="accepted", attempts=attempts)
    assert (taken.accepted, taken.duplicates) == (2, 0)
    again = router.report(Report(trace_id=decided.trace_id, outcome="failed"), outcome="accepted", attempts=attempts)
    assert (again.accepted, again.duplicates) == (0, 2)
    (report,) = router.get_trace(decided.trace_id).reports
    assert list(report.attempts) == attempts
    assert report.outcome == "accepted"


def test_a_trace_holds_the_decision(router: RouterClient, decided: Decided) -> None:
    trace = router.get_trace(decided.trace_id)
    assert trace.decision == decided.decision
    assert trace.request == RouteRequest(task="coding", input_tokens=100)
    assert (trace.data_class, trace.operation_id) == ("health", decided.operation_id)


def test_a_trace_is_explained_again(router: RouterClient, decided: Decided) -> None:
    answer = router.explain(trace_id=decided.trace_id, request_id="mine")
    assert answer.explanation.decision == decided.decision
    assert len(answer.explanation.endpoints) == decided.decision.considered
    with pytest.raises(InvalidRequest) as raised:
        router.explain(trace_id=decided.trace_id, model="auto")
    assert [one.field for one in raised.value.violations] == ["request"]


def test_a_trace_id_alone_asks_for_nothing_else() -> None:
    others = {"policy_id": "", "trace_id": NOBODYS}
    assert not explain_request(None, {}, **others).HasField("request")
    assert explain_request(RouteRequest(), {}, **others).HasField("request")
    assert explain_request(None, {}, policy_id="", trace_id="").HasField("request")


def test_traces_are_listed_newest_first_page_by_page(router: RouterClient) -> None:
    began = datetime.now(UTC)
    made = [Decided(router).trace_id for _ in range(5)]
    refused = router.decide(model="no-such-model-at-all").refusal.trace_id
    elsewhere = began.astimezone(timezone(timedelta(hours=-7)))
    listed = [one.trace_id for one in router.list_traces(since=elsewhere, page_size=2)]
    assert set(listed) == {*made, refused}
    decided = [one.trace_id for one in router.list_traces(since=began, outcome="decided")]
    assert set(decided) == set(made)
    assert [one.outcome for one in router.list_traces(since=began, outcome="model_not_found")] == ["model_not_found"]
    assert next(router.list_traces(until=began - timedelta(days=400)), None) is None


def test_an_instant_needs_a_zone(router: RouterClient) -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        next(router.list_traces(since=datetime(2026, 1, 1)))  # noqa: DTZ001 - that is what is wrong
    written = timestamp(datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=1))))
    assert written is not None
    assert written.ToDatetime() == datetime(2025, 12, 31, 23)  # noqa: DTZ001 - protobuf's is UTC without saying so


def test_what_is_not_taken_is_raised(router: RouterClient, decided: Decided) -> None:
    with pytest.raises(TraceNotFound) as raised:
        router.get_trace(NOBODYS)
    assert raised.value.reason == "ERROR_REASON_TRACE_NOT_FOUND"
    outside = Attempt(attempt_id="1", endpoint_id="nobody's")
    with pytest.raises(EndpointNotListed) as refused:
        router.report(trace_id=decided.trace_id, outcome="accepted", attempts=[outside])
    assert [one.field for one in refused.value.violations] == ["report.attempts[0].endpoint_id"]
    with pytest.raises(InvalidRequest) as wrong:
        router.report(trace_id="mine", outcome="lucky")
    assert {one.field for one in wrong.value.violations} == {"report.trace_id", "report.outcome"}


def stream(decided: Decided) -> list[Report]:
    return [
        Report(trace_id=decided.trace_id, outcome="failed", attempts=[decided.attempt("1")]),
        Report(trace_id=NOBODYS, outcome="failed"),
        Report(trace_id=decided.trace_id, outcome="accepted", attempts=[decided.attempt("1"), decided.attempt("2")]),
    ]


def test_one_bad_report_never_ends_a_stream(router: RouterClient, decided: Decided) -> None:
    answer = router.report_stream(iter(stream(decided)))
    assert (answer.accepted, answer.duplicates) == (2, 1)
    assert [(one.position, one.trace_id) for one in answer.rejected] == [(1, NOBODYS)]


async def test_the_asyncio_client_does_the_same(async_router: AsyncRouterClient, router: RouterClient) -> None:
    began, decided = datetime.now(UTC), Decided(router)
    taken = await async_router.report(trace_id=decided.trace_id, outcome="accepted", attempts=[decided.attempt("0")])
    assert taken.accepted == 1

    async def one_by_one() -> AsyncIterator[Report]:
        for report in stream(decided):
            yield report

    for reports, accepted in ((stream(decided), 2), (one_by_one(), 0)):
        answer = await async_router.report_stream(reports)
        assert (answer.accepted, len(answer.rejected)) == (accepted, 1)
    trace = await async_router.get_trace(decided.trace_id)
    assert trace == router.get_trace(decided.trace_id)
    assert (await async_router.explain(trace_id=decided.trace_id)).explanation.decision == trace.decision
    assert decided.trace_id in [one.trace_id async for one in async_router.list_traces(since=began, page_size=1)]
    with pytest.raises(TraceNotFound):
        await async_router.get_trace(NOBODYS)


def test_a_service_that_keeps_nothing_says_so(stateless_target: str) -> None:
    with RouterClient(stateless_target) as router, pytest.raises(RouterUnavailable) as raised:
        router.get_trace(NOBODYS)
    assert raised.value.reason == "ERROR_REASON_NO_STORE"


def test_the_keywords_are_the_fields_of_the_wire() -> None:
    # Who reports is for the service to know.
    assert {*ReportFields.__annotations__, "caller"} == set(Report.DESCRIPTOR.fields_by_name)
    with pytest.raises(TypeError, match="Report has no field result; it has trace_id"):
        report_message(None, {"result": "accepted"})  # type: ignore[typeddict-unknown-key]
