"""Traces and reports of a real server with a store in a file: through reloads, restarts and kills."""

from __future__ import annotations

import signal
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import Decision, RouteRequest
from tests.server.conftest import ServerProcess
from tests.server.in_process import CATALOG, EVERYTHING_CHANGED

Start = Callable[..., ServerProcess]
ASKED = pb.DecideRequest(
    request=RouteRequest(task="coding", input_tokens=1000, output_tokens=10, max_price=20), operation_id="op"
)


@pytest.fixture
def start(serve: Start, tmp_path: Path) -> Start:
    """Starts servers one after the other, on the same catalogue and store."""
    (tmp_path / "catalog.yaml").write_text(CATALOG)

    def started(*arguments: str) -> ServerProcess:
        files = ("--catalog", str(tmp_path / "catalog.yaml"), "--store", f"sqlite:{tmp_path}/router.db")
        return serve(*files, *arguments)

    return started


def decide(server: ServerProcess) -> Decision:
    decision: Decision = server.router.Decide(ASKED).decision
    return decision


def report(decision: Decision, attempt_id: str) -> pb.ReportRequest:
    attempt = Attempt(attempt_id=attempt_id, endpoint_id=decision.candidates[0].endpoint_id)
    return pb.ReportRequest(report=Report(trace_id=decision.trace_id, outcome="accepted", attempts=[attempt]))


def test_a_trace_is_explained_on_its_own_catalogue_after_a_reload_and_a_restart(start: Start, tmp_path: Path) -> None:
    server = start()
    decision = decide(server)
    asked = pb.ExplainRequest(trace_id=decision.trace_id)
    first = server.router.Explain(asked).explanation
    assert first.decision == decision
    said = len(server.lines)
    (tmp_path / "catalog.yaml").write_text(EVERYTHING_CHANGED)
    server.wait_for("catalogue loaded", after=said)
    assert decide(server).catalog_version != decision.catalog_version
    assert server.router.Explain(asked).explanation == first
    assert server.stop() == 0
    restarted = start()
    assert restarted.router.Explain(asked).explanation == first
    trace = restarted.router.GetTrace(pb.GetTraceRequest(trace_id=decision.trace_id)).trace
    assert (trace.decision, trace.request) == (decision, ASKED.request)
    assert len(restarted.router.ListTraces(pb.ListTracesRequest()).traces) == 2


def test_what_was_acknowledged_survives_a_kill_and_is_not_taken_twice(start: Start) -> None:
    server = start()
    decision = decide(server)
    assert server.router.Report(report(decision, "1")) == pb.ReportResponse(accepted=1)
    server.stop(signal.SIGKILL)
    restarted = start()
    assert restarted.router.Report(report(decision, "1")) == pb.ReportResponse(duplicates=1)
    items = [pb.ReportStreamRequest(report=report(decision, number).report) for number in ("1", "2", "3")]
    assert restarted.router.ReportStream(iter(items)) == pb.ReportStreamResponse(accepted=2, duplicates=1)
    trace = restarted.router.GetTrace(pb.GetTraceRequest(trace_id=decision.trace_id)).trace
    assert [[one.attempt_id for one in each.attempts] for each in trace.reports] == [["1"], ["2"], ["3"]]


def test_reports_are_counted_where_metrics_are_read(start: Start) -> None:
    server = start("--admin", "127.0.0.1:0")
    decision = decide(server)
    server.router.Report(report(decision, "1"))
    outside = report(decision, "2")
    outside.report.attempts[0].endpoint_id = "large@us"
    summary = server.router.ReportStream(iter([pb.ReportStreamRequest(report=outside.report)]))
    assert [one.position for one in summary.rejected] == [0]
    address = server.wait_for(r'"address":"([\d.:]+)"')[1]
    with urllib.request.urlopen(f"http://{address}/metrics") as page:
        text = page.read().decode()
    for line in (
        'router_reports_total{outcome="accepted",result="accepted"} 1.0',
        'router_reports_total{outcome="accepted",result="unlisted_endpoint"} 1.0',
        "router_report_unlisted_endpoints_total 1.0",
    ):
        assert line in text
