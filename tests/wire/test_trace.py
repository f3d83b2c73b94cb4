"""What a trace keeps of a request and its answer comes back exactly, whatever was asked."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given, settings
from hypothesis import strategies as st

from router_service.asks import InvalidRequest
from router_service.domain.decision import Decision
from router_service.domain.policy import Policy
from router_service.domain.request import FIELDS, RouteRequest
from router_service.engine.decide import decide
from router_service.engine.index import Index
from router_service.policies.refuse import BUDGET_EXCEEDED, refuse
from router_service.store.interface import Attempt, Report, StoredTrace, TraceQuery
from router_service.traces.record import Record, trace_of
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.trace import (
    PAGE_DEFAULT,
    WireCodec,
    read_asked_trace,
    read_explained_trace,
    read_query,
    route_request,
    write_listed,
    write_trace,
)
from tests.builders import NOW, endpoint
from tests.reference.generate import random_case

TRACE_ID, VERSION = "0123456789abcdef" * 2, "f" * 32
ENDPOINTS = [endpoint("m@a", input_price=2, output_price=4), endpoint("n@b", input_price=1, output_price=1)]
INDEX = Index(ENDPOINTS)
POLICY = Policy.read({"policy_id": "eu", "retention": "7d"})


def record(request: RouteRequest, **fields: Any) -> Record:
    values: dict[str, Any] = {"result": decide(INDEX, POLICY, request, NOW)} | fields
    return Record(trace_id=TRACE_ID, now=NOW, policy=POLICY, catalog_version=VERSION, request=request, **values)


@settings(max_examples=1000, deadline=None)
@given(st.integers(0, 2**63))
def test_any_request_survives(seed: int) -> None:
    """The codec remembers forms, so it reads each request when it is new and again when it is known."""
    request = RouteRequest.read(random_case(random.Random(seed))["request"])
    codec, asked = WireCodec(), record(request, data_class="health", operation_id="op-1")
    for _ in range(2):
        read = codec.read_request(codec.request_form(asked))
        assert read.request == request
        assert (read.policy_id, read.data_class, read.operation_id) == ("eu", "health", "op-1")


FULL = RouteRequest.read(
    {
        "model": "m",
        "task": "coding",
        "language": "de-AT",
        "residency": "any",
        "regions": ["DE", "eu-*"],
        "input_tokens": 0,
        "output_tokens": 10,
        "expected_output_tokens": 0,
        "modalities": ["text", "image"],
        "requires_tools": True,
        "structured_output": "strict",
        "model_classes": ["small"],
        "max_price": 0.000001,
        "max_cost": 999999.999999,
        "deadline_ms": 0,
        "exclude_endpoints": ["n@b", "x"],
        "max_attempts": 1,
    }
)


def test_every_field_of_a_request_is_kept() -> None:
    assert all(getattr(FULL, name) != getattr(RouteRequest(), name) for name in FIELDS)
    codec = WireCodec()
    assert codec.read_request(codec.request_form(record(FULL))).request == FULL
    assert {field.name for field, _ in route_request(FULL).ListFields()} == set(FIELDS)


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 10**12))
def test_every_limit_is_kept_to_the_millionth(limit: int) -> None:
    request = RouteRequest(input_tokens=1, max_cost=limit, max_price=limit)
    codec = WireCodec()
    assert codec.read_request(codec.request_form(record(request))).request == request


def test_a_long_request_is_kept_and_not_remembered() -> None:
    request = RouteRequest(exclude_endpoints=tuple(f"e{number}" for number in range(1024)))
    codec = WireCodec()
    assert codec.read_request(codec.request_form(record(request))).request == request
    assert not codec._requests


def test_what_is_left_to_the_default_takes_no_room() -> None:
    assert route_request(RouteRequest()).SerializeToString() == b""


def test_a_decision_is_told_as_decide_told_it() -> None:
    asked = record(FULL, result=decide(INDEX, POLICY, RouteRequest(), NOW), budget_max_cost=1_500_000)
    trace = write_trace(StoredTrace(trace_of(asked, WireCodec())))
    assert isinstance(asked.result, Decision)
    assert trace.decision.sentence == asked.result.sentence
    assert [one.endpoint_id for one in trace.decision.candidates] == ["n@b", "m@a"]
    assert (trace.decision.trace_id, trace.decision.catalog_version) == (TRACE_ID, VERSION)
    assert (trace.trace_id, trace.catalog_version, trace.policy_id, trace.outcome) == (
        TRACE_ID,
        VERSION,
        "eu",
        "decided",
    )
    assert (trace.decided_at.ToMilliseconds(), trace.kept_until.ToMilliseconds()) == (NOW, NOW + 7 * 86_400_000)
    assert trace.budget_max_cost == 1.5
    assert trace.request == route_request(FULL)
    assert not trace.reports


def test_a_refusal_is_told_as_decide_told_it() -> None:
    refusal = refuse(INDEX, POLICY, RouteRequest(), BUDGET_EXCEEDED, "It is spent.", NOW + 1500)
    asked = record(RouteRequest(), result=refusal, data_class="health", operation_id="op")
    trace = write_listed(trace_of(asked, WireCodec()))
    assert (trace.outcome, trace.refusal.code, trace.refusal.message) == (
        BUDGET_EXCEEDED,
        BUDGET_EXCEEDED,
        "It is spent.",
    )
    assert trace.refusal.retry_after.ToMilliseconds() == 1500
    assert (trace.data_class, trace.operation_id) == ("health", "op")
    assert not trace.HasField("budget_max_cost")


def test_reports_stand_in_the_order_of_their_coming() -> None:
    def report(outcome: str, body: dict[str, Any]) -> Report:
        attempt = Attempt(attempt_id="a", endpoint_id="e", cost=0, body=msgspec.json.encode(body))
        return Report(trace_id=TRACE_ID, policy_id="eu", at=NOW, outcome=outcome, attempts=(attempt,))

    body = {"attempt_id": "a", "endpoint_id": "e", "latency_ms": 0, "cost": 250_000}
    kept = StoredTrace(
        trace_of(record(RouteRequest()), WireCodec()), (report("failed", body), report("accepted", body))
    )
    trace = write_trace(kept)
    assert [one.outcome for one in trace.reports] == ["failed", "accepted"]
    assert [one.operation_id for one in trace.reports] == ["", ""]
    (attempt,) = trace.reports[0].attempts
    assert attempt.HasField("latency_ms")
    assert not attempt.HasField("status_code")
    assert not attempt.HasField("started_at")


def fields_refused(read: Any, message: Any) -> list[str]:
    with pytest.raises(InvalidRequest) as caught:
        read(message)
    return [problem.field for problem in caught.value.problems]


def test_a_trace_id_has_one_form() -> None:
    assert read_asked_trace(pb.GetTraceRequest(trace_id=f" {TRACE_ID.upper()} ")) == TRACE_ID
    for wrong in ("", " ", "0", TRACE_ID[:-1], TRACE_ID + "0", "g" * 32):
        assert fields_refused(read_asked_trace, pb.GetTraceRequest(trace_id=wrong)) == ["trace_id"]


def test_a_trace_id_excludes_every_other_field() -> None:
    assert read_explained_trace(pb.ExplainRequest(trace_id=TRACE_ID, request_id="mine")) == TRACE_ID
    message = pb.ExplainRequest(
        trace_id=TRACE_ID, policy_id="eu", workload="w", data_class="c", operation_id="o", request={}, inline={}
    )
    everything_else = set(pb.ExplainRequest.DESCRIPTOR.fields_by_name) - {"trace_id", "request_id"}
    assert set(fields_refused(read_explained_trace, message)) == everything_else


def test_a_query_is_read() -> None:
    assert read_query(pb.ListTracesRequest()) == (TraceQuery(), PAGE_DEFAULT)
    message = pb.ListTracesRequest(
        page_size=7,
        policy_id=" eu ",
        outcome="Decided",
        endpoint_id="m@a",
        since=Timestamp(seconds=1, nanos=5_000_000),
        until=Timestamp(seconds=2),
    )
    query = TraceQuery(policy_id="eu", outcome="decided", endpoint_id="m@a", since=1005, until=2000)
    assert read_query(message) == (query, 7)


def test_every_bad_filter_is_named_at_once() -> None:
    message = pb.ListTracesRequest(
        page_size=1001,
        policy_id="\x00",
        outcome="perhaps",
        endpoint_id="x" * 257,
        since=Timestamp(seconds=-5),
        until=Timestamp(seconds=10**12),
    )
    assert set(fields_refused(read_query, message)) == set(pb.ListTracesRequest.DESCRIPTOR.fields_by_name) - {
        "page_token"
    }
    backwards = pb.ListTracesRequest(since=Timestamp(seconds=2), until=Timestamp(seconds=1))
    assert fields_refused(read_query, backwards) == ["until"]
