"""Spans of a real server at a real OTLP receiver: the caller's trace goes on, and tells what was decided."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from router_service.server.telemetry import TelemetryInvalid, spans_of
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.route_pb2 import RouteRequest
from tests.server.collector import Collector, collecting, told
from tests.server.conftest import ServerProcess

SERVICE = "router_service.v1.RouterService"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED = (("traceparent", f"00-{TRACE}-{PARENT}-01"),)
Start = Callable[..., ServerProcess]


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture
def started(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts servers whose spans go to the collector."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://{collector.address}")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
    servers: list[ServerProcess] = []

    def start(*arguments: str) -> ServerProcess:
        servers.append(ServerProcess("--listen", "127.0.0.1:0", "--log-format", "json", *arguments))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def test_a_call_continues_its_callers_trace(started: Start, collector: Collector) -> None:
    server = started()
    request = pb.DecideRequest(policy_id="eu-hosted", request=RouteRequest(task="coding"))
    answer = server.router.Decide(request, timeout=20, metadata=SAMPLED)
    (span,) = collector.wait_for(f"{SERVICE}/Decide")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    assert span.kind == Span.SPAN_KIND_SERVER
    assert span.status.code == Status.STATUS_CODE_UNSET
    assert told(span) == {
        "rpc.system.name": "grpc",
        "rpc.method": f"{SERVICE}/Decide",
        "rpc.response.status_code": "OK",
        "router.trace_id": answer.decision.trace_id,
        "router.policy_id": "eu-hosted",
        "router.catalog_version": answer.decision.catalog_version,
        "router.considered": answer.decision.considered,
        "router.excluded": answer.decision.excluded,
        "router.outcome": "decided",
        "router.candidates": len(answer.decision.candidates),
        "router.endpoint_id": answer.decision.candidates[0].endpoint_id,
    }
    resource = {one.key: one.value.string_value for one in collector.spans[0][0].attributes}
    assert resource["service.name"] == "router-service"


def test_refusals_and_errors_are_told_apart(started: Start, collector: Collector) -> None:
    server = started()
    refused = server.router.Decide(pb.DecideRequest(request=RouteRequest(model="no-such-model")), timeout=20)
    with pytest.raises(grpc.RpcError):
        server.router.Decide(pb.DecideRequest(policy_id="no-such-policy"), timeout=20)
    first, second = collector.wait_for(f"{SERVICE}/Decide", 2)
    assert told(first)["router.outcome"] == "model_not_found"
    assert told(first)["router.trace_id"] == refused.refusal.trace_id
    assert told(first)["rpc.response.status_code"] == "OK"
    assert told(second)["rpc.response.status_code"] == told(second)["error.type"] == "NOT_FOUND"
    assert second.status.code == Status.STATUS_CODE_UNSET  # the caller's mistake, not a fault of the server


def test_items_of_a_stream_are_events_of_its_span(started: Start, collector: Collector) -> None:
    server = started()
    items = [pb.DecideStreamRequest(decide=pb.DecideRequest(request=RouteRequest(task="coding"))) for _ in range(3)]
    answers = list(server.router.DecideStream(iter(items), timeout=20, metadata=SAMPLED))
    (span,) = collector.wait_for(f"{SERVICE}/DecideStream")
    assert span.trace_id.hex() == TRACE
    assert [told(event)["router.trace_id"] for event in span.events] == [one.decision.trace_id for one in answers]
    assert told(span)["rpc.response.status_code"] == "OK"


def test_a_caller_that_does_not_sample_leaves_no_span(started: Start, collector: Collector) -> None:
    server = started()
    unsampled = (("traceparent", f"00-{TRACE}-{PARENT}-00"),)
    server.router.Decide(pb.DecideRequest(request=RouteRequest(task="coding")), timeout=20, metadata=unsampled)
    server.router.Decide(pb.DecideRequest(request=RouteRequest(task="coding")), timeout=20)
    (span,) = collector.wait_for(f"{SERVICE}/Decide")
    assert span.trace_id.hex() != TRACE


def test_log_lines_are_json_with_the_ids_of_both_traces(started: Start) -> None:
    server = started()
    request = pb.DecideRequest(request=RouteRequest(model="no-such-model"))
    answer = server.router.Decide(request, timeout=20, metadata=SAMPLED)
    line = json.loads(server.wait_for(r'^\{.*"refused".*\}$')[0])
    assert line["trace_id"] == answer.refusal.trace_id
    assert line["otel_trace_id"] == TRACE
    assert line["caller"] == "local"
    assert line["level"] == "info"


def test_what_is_left_is_sent_at_the_end(started: Start, collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "60000")
    server = started()
    server.router.Decide(pb.DecideRequest(request=RouteRequest(task="coding")), timeout=20)
    assert not collector.spans
    assert server.stop(signal.SIGTERM) == 0
    collector.wait_for(f"{SERVICE}/Decide")


def test_a_collector_that_is_away_delays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    server = ServerProcess("--listen", "127.0.0.1:0")
    try:
        for _ in range(20):
            server.router.Decide(pb.DecideRequest(request=RouteRequest(task="coding")), timeout=5)
        begun = time.monotonic()
    finally:
        assert server.stop(signal.SIGTERM) == 0
    assert time.monotonic() - begun < 25  # the flush is bounded


def test_every_problem_of_what_is_asked_for_is_told_at_once() -> None:
    with pytest.raises(TelemetryInvalid) as told_all:
        spans_of({"OTEL_TRACES_EXPORTER": "jaeger,otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"})
    assert str(told_all.value).splitlines() == [
        "OTEL_TRACES_EXPORTER: jaeger is no exporter of this service; give otlp, console or none",
        "OTEL_EXPORTER_OTLP_PROTOCOL: http/json is not spoken; give grpc, and the port for it, mostly 4317",
    ]


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4317"},
        {"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "otlp"},
    ],
)
def test_spans_are_off_unless_asked_for(environment: dict[str, str]) -> None:
    assert spans_of(environment) is None


def test_without_spans_nothing_of_opentelemetry_is_imported() -> None:
    program = "import sys, router_service.cli.serve; print([n for n in sys.modules if n.startswith('opentelemetry')])"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
