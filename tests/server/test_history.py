"""Traces over the wire: kept as they were answered, found again, and explained again word for word."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from router_service.server import history_service
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.explanation_pb2 import Explanation
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import Decision, Refusal, RouteRequest
from router_service.v1.trace_pb2 import Trace
from tests.server.in_process import EVERYTHING_CHANGED, NOW, InProcess, failure, forgetful, history

__all__ = ["forgetful", "history"]  # fixtures

NOT_FOUND, INVALID = grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT
NOBODYS = "0" * 32
TOKENS = RouteRequest(input_tokens=1000, output_tokens=1000)  # 0.003 on small@a, 0.03 on large@b
# Requests of every kind of answer, by the outcome of each.
EVERY_OUTCOME = {
    "decided": pb.DecideRequest(request=TOKENS, data_class="health", operation_id="op-1"),
    "no_endpoint_for_policy": pb.DecideRequest(request=RouteRequest(residency="eu-owned", model="large")),
    "all_candidates_excluded": pb.DecideRequest(request=RouteRequest(exclude_endpoints=["small@a", "large@b"])),
    "data_class_not_allowed": pb.DecideRequest(policy_id="clinic", request=TOKENS, data_class="personal"),
    "budget_exceeded": pb.DecideRequest(policy_id="poor", request=TOKENS),
}


async def decide(history: InProcess, message: pb.DecideRequest) -> Decision | Refusal:
    answer = await history.router.Decide(message)
    result: Decision | Refusal = answer.decision if answer.HasField("decision") else answer.refusal
    return result


async def trace_of(history: InProcess, result: Decision | Refusal) -> Trace:
    trace: Trace = (await history.router.GetTrace(pb.GetTraceRequest(trace_id=result.trace_id))).trace
    return trace


async def explain(history: InProcess, trace_id: str) -> Explanation:
    told: Explanation = (await history.router.Explain(pb.ExplainRequest(trace_id=trace_id))).explanation
    return told


def result_of(message: Trace | Explanation) -> Decision | Refusal:
    return message.decision if message.HasField("decision") else message.refusal


def outcome_of(result: Decision | Refusal) -> str:
    return result.code if isinstance(result, Refusal) else "decided"


@pytest.mark.parametrize("outcome", EVERY_OUTCOME)
async def test_a_trace_holds_what_was_asked_and_answered(history: InProcess, outcome: str) -> None:
    asked = EVERY_OUTCOME[outcome]
    result = await decide(history, asked)
    assert outcome_of(result) == outcome
    trace = await trace_of(history, result)
    assert result_of(trace) == result
    assert trace.request == asked.request
    assert (trace.data_class, trace.operation_id) == (asked.data_class, asked.operation_id)
    assert (trace.policy_id, trace.outcome) == (asked.policy_id or "eu", outcome)
    assert (trace.trace_id, trace.catalog_version) == (result.trace_id, result.catalog_version)
    assert trace.decided_at.ToMilliseconds() == NOW
    assert trace.kept_until.ToMilliseconds() == NOW + 30 * 86_400_000


async def test_a_trace_holds_what_was_reported(history: InProcess) -> None:
    result = await decide(history, pb.DecideRequest())
    told = Report(
        trace_id=result.trace_id,
        operation_id="op-2",
        outcome="accepted",
        attempts=[
            Attempt(
                attempt_id="1",
                endpoint_id="small@a",
                started_at=Timestamp(seconds=NOW // 1000, nanos=7_000_000),
                latency_ms=0,
                failure_class="transient",
                status_code=503,
                cost=0.25,
            ),
            Attempt(attempt_id="2", endpoint_id="large@b", output_tokens=7, finish_reason="stop"),
        ],
    )
    await history.router.Report(pb.ReportRequest(report=told))
    told.caller = "local"
    assert list((await trace_of(history, result)).reports) == [told]


async def test_each_report_names_its_own_operation_and_none_that_of_the_decision(history: InProcess) -> None:
    result = await decide(history, pb.DecideRequest(operation_id="decided"))
    for outcome, operation_id in (("failed", "first"), ("ambiguous", ""), ("accepted", "second")):
        told = Report(trace_id=result.trace_id, outcome=outcome, operation_id=operation_id)
        await history.router.Report(pb.ReportRequest(report=told))
    trace = await trace_of(history, result)
    assert [one.operation_id for one in trace.reports] == ["first", "", "second"]
    assert trace.operation_id == "decided"


async def test_the_limit_that_a_budget_set_is_told(history: InProcess) -> None:
    free = await decide(history, pb.DecideRequest(request=TOKENS))
    assert not (await trace_of(history, free)).HasField("budget_max_cost")
    capped = await decide(history, pb.DecideRequest(policy_id="capped", request=TOKENS))
    assert (await trace_of(history, capped)).budget_max_cost == 0.05


@pytest.mark.parametrize("outcome", EVERY_OUTCOME)
async def test_a_trace_is_explained_word_for_word_after_everything_changed(history: InProcess, outcome: str) -> None:
    asked = EVERY_OUTCOME[outcome]
    result = await decide(history, asked)
    first = await explain(history, result.trace_id)
    await history.serve(EVERYTHING_CHANGED)
    history.now += 86_400_000
    assert (await decide(history, pb.DecideRequest())) != result
    again = await explain(history, result.trace_id)
    assert again == first
    assert result_of(again) == result
    assert len(again.endpoints) == result.considered
    assert {one.provider for one in again.endpoints} <= {"a", "b", "c"}


async def test_a_model_that_was_not_found_is_explained_word_for_word(history: InProcess) -> None:
    result = await decide(history, pb.DecideRequest(request=RouteRequest(model="larg")))
    assert isinstance(result, Refusal)
    assert result.close_slugs == ["large"]
    assert result_of(await explain(history, result.trace_id)) == result


async def test_a_trace_is_explained_under_the_limit_that_the_budget_set(history: InProcess) -> None:
    """What is left of the day has a part in the decision, and may be another by the time of the explanation."""
    asked = pb.DecideRequest(policy_id="capped", request=TOKENS)
    before, after = await decide(history, asked), await decide(history, asked)
    assert isinstance(before, Decision)
    assert isinstance(after, Decision)
    assert [len(one.candidates) for one in (before, after)] == [2, 1]
    for one in (before, after):
        assert (await explain(history, one.trace_id)).decision == one
    refused = {
        one.endpoint_id: [by.reason for by in one.refused_by]
        for one in (await explain(history, after.trace_id)).endpoints
    }
    assert "cost_above_limit" in refused["large@b"]


async def test_an_explanation_of_a_trace_takes_nothing(history: InProcess) -> None:
    result = await decide(history, pb.DecideRequest(policy_id="capped", request=TOKENS))
    spent = await history.store.spending("capped", "2027-01-15")
    listed = await history.router.ListTraces(pb.ListTracesRequest())
    await explain(history, result.trace_id)
    assert await history.store.spending("capped", "2027-01-15") == spent
    assert await history.router.ListTraces(pb.ListTracesRequest()) == listed


async def test_a_trace_id_excludes_whatever_else_could_be_asked(history: InProcess) -> None:
    result = await decide(history, pb.DecideRequest())
    message = pb.ExplainRequest(
        trace_id=result.trace_id, request_id="r", policy_id="eu", data_class="c", operation_id="o", request=TOKENS
    )
    code, reason, fields = await failure(history.router.Explain(message))
    assert (code, reason) == (INVALID, "INVALID_REQUEST")
    assert set(fields) == {"policy_id", "data_class", "operation_id", "request"}
    answer = await history.router.Explain(pb.ExplainRequest(trace_id=result.trace_id.upper(), request_id="r"))
    assert (answer.request_id, result_of(answer.explanation)) == ("r", result)


async def test_an_explanation_of_a_request_has_no_trace_id(history: InProcess) -> None:
    answer = await history.router.Explain(pb.ExplainRequest(request=TOKENS))
    assert answer.explanation.decision.trace_id == ""


@pytest.mark.parametrize("trace_id", [NOBODYS, "mine", ""])
async def test_a_trace_that_nobody_has(history: InProcess, trace_id: str) -> None:
    expected = (NOT_FOUND, "TRACE_NOT_FOUND") if trace_id == NOBODYS else (INVALID, "INVALID_REQUEST")
    calls = [history.router.GetTrace(pb.GetTraceRequest(trace_id=trace_id))]
    calls += [history.router.Explain(pb.ExplainRequest(trace_id=trace_id))] if trace_id else []
    for call in calls:
        assert (await failure(call))[:2] == expected


async def test_a_request_that_brings_its_own_policy_has_no_trace(history: InProcess) -> None:
    endpoint: dict[str, Any] = {"endpoint_id": "e", "model": "m", "kind": "hosted", "status": "up"}
    endpoint |= {"model_type": "text", "country": "DE", "sovereignty": "eu-owned"}
    inline = pb.Inline(candidates=[endpoint], policy={"policy_id": "mine"})
    result = await decide(history, pb.DecideRequest(inline=inline))
    assert isinstance(result, Decision)
    code, reason, _ = await failure(history.router.GetTrace(pb.GetTraceRequest(trace_id=result.trace_id)))
    assert (code, reason) == (NOT_FOUND, "TRACE_NOT_FOUND")
    assert not (await history.router.ListTraces(pb.ListTracesRequest())).traces


async def listed(history: InProcess, **filters: Any) -> list[str]:
    """The trace_ids that a list holds, asked page by page."""
    found, token = [], ""
    while True:
        page = await history.router.ListTraces(pb.ListTracesRequest(page_token=token, **filters))
        found += [one.trace_id for one in page.traces]
        token = page.next_page_token
        if not token:
            return found


async def test_traces_are_listed_newest_first_whatever_the_size_of_a_page(history: InProcess) -> None:
    made: list[str] = []
    for _ in range(7):
        history.now += 1
        made.insert(0, (await decide(history, pb.DecideRequest())).trace_id)
    for size in (0, 1, 2, 3, 6, 7, 8, 1000):
        assert await listed(history, page_size=size) == made


async def test_a_page_goes_on_where_the_one_before_it_ended(history: InProcess) -> None:
    first = [(await decide(history, pb.DecideRequest())).trace_id for _ in range(4)]
    page = await history.router.ListTraces(pb.ListTracesRequest(page_size=2))
    history.now += 1
    await decide(history, pb.DecideRequest())
    rest = await history.router.ListTraces(pb.ListTracesRequest(page_token=page.next_page_token))
    assert sorted(one.trace_id for one in (*page.traces, *rest.traces)) == sorted(first)
    assert rest.next_page_token == ""


async def test_a_page_of_long_requests_fits_a_message(history: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_service, "PAGE_BYTES", 30_000)
    long = RouteRequest(exclude_endpoints=[f"{number:0200}" for number in range(100)])
    for request in (RouteRequest(), long, long, RouteRequest(), RouteRequest()):
        history.now += 1
        await decide(history, pb.DecideRequest(request=request))
    page = await history.router.ListTraces(pb.ListTracesRequest())
    assert len(page.traces) == 3
    assert len(await listed(history)) == 5


async def test_filters(history: InProcess) -> None:
    results: dict[str, Decision | Refusal] = {}
    for outcome, asked in EVERY_OUTCOME.items():
        history.now += 1000
        results[outcome] = await decide(history, asked)
    pinned = await decide(history, pb.DecideRequest(policy_id="world", request=RouteRequest(model="large")))
    for outcome, result in results.items():
        expected = [result.trace_id]
        assert await listed(history, outcome=outcome, policy_id=result.policy_id) == expected
    assert await listed(history, policy_id="nobody's") == []
    assert await listed(history, endpoint_id="large@us") == [pinned.trace_id]
    assert len(await listed(history, endpoint_id="large@b")) == 2
    second = await trace_of(history, results["no_endpoint_for_policy"])
    assert len(await listed(history, since=second.decided_at)) == 5
    assert await listed(history, until=second.decided_at) == [results["decided"].trace_id]
    assert await listed(history, since=second.decided_at, until=second.decided_at) == []


async def test_a_list_has_whole_traces_without_reports(history: InProcess) -> None:
    result = await decide(history, EVERY_OUTCOME["decided"])
    report = Report(trace_id=result.trace_id, outcome="accepted")
    await history.router.Report(pb.ReportRequest(report=report))
    (one,) = (await history.router.ListTraces(pb.ListTracesRequest())).traces
    whole = await trace_of(history, result)
    assert whole.reports
    whole.ClearField("reports")
    assert one == whole


@pytest.mark.parametrize("token", ["x", "é", "bm90IG1pbmU=", "!!!!"])
async def test_a_token_that_was_not_made_here(history: InProcess, token: str) -> None:
    code, _, fields = await failure(history.router.ListTraces(pb.ListTracesRequest(page_token=token)))
    assert code is INVALID
    assert set(fields) == {"page_token"}


async def test_filters_that_make_no_sense_are_all_named(history: InProcess) -> None:
    message = pb.ListTracesRequest(page_size=1001, outcome="perhaps", until=Timestamp(seconds=-1))
    assert set((await failure(history.router.ListTraces(message)))[2]) == {"page_size", "outcome", "until"}


CALLS = {
    "GetTrace": pb.GetTraceRequest(trace_id=NOBODYS),
    "ListTraces": pb.ListTracesRequest(),
    "Explain": pb.ExplainRequest(trace_id=NOBODYS),
    "Report": pb.ReportRequest(report=Report(trace_id=NOBODYS, outcome="failed")),
}


@pytest.mark.parametrize("method", CALLS)
async def test_without_a_store_or_with_a_lost_one(history: InProcess, forgetful: InProcess, method: str) -> None:
    code, reason, _ = await failure(getattr(forgetful.router, method)(CALLS[method]))
    assert (code, reason) == (grpc.StatusCode.UNAVAILABLE, "NO_STORE")
    history.store.lost = True
    code, reason, _ = await failure(getattr(history.router, method)(CALLS[method]))
    assert (code, reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_LOST")
