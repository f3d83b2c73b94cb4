"""The end of a server under load: who follows health loses no call, and what was acknowledged is in the store."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sqlite3
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.server.conftest import ServerProcess

Serve = Callable[..., ServerProcess]
SERVICE = "router_service.v1.RouterService"
LONG = "60"
CATALOG = """\
currency: EUR
default_policy: eu
models: [{model: m}]
endpoints:
- {endpoint_id: a, model: m, provider: p, country: FR, sovereignty: eu-owned, input_price: 1, output_price: 1}
policies:
- {policy_id: eu}
- {policy_id: daily, daily_budget: 1000}
"""
COUNTED = RouteRequest(input_tokens=1000, output_tokens=1000)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    """The flags of a catalogue with a daily budget and of a store in a file."""
    (tmp_path / "catalog.yaml").write_text(CATALOG)
    return "--catalog", str(tmp_path / "catalog.yaml"), "--store", f"sqlite:{tmp_path}/router.db"


def reason(error: grpc.RpcError) -> tuple[grpc.StatusCode, str]:
    """(code, ErrorInfo's reason) of a call that failed."""
    trailers: Any = error.trailing_metadata()
    raw = dict(trailers).get("grpc-status-details-bin", b"")
    info = error_details_pb2.ErrorInfo()
    told = any(detail.Unpack(info) for detail in status_pb2.Status.FromString(raw).details)
    return error.code(), info.reason.removeprefix("ERROR_REASON_") if told else ""


DRAINING = grpc.StatusCode.UNAVAILABLE, "DRAINING"


def seen(server: ServerProcess) -> Iterator[int]:
    """What a watch of the service's health tells."""
    watch = health_pb2_grpc.HealthStub(server.channel()).Watch(health_pb2.HealthCheckRequest(service=SERVICE))
    return (one.status for one in watch)


def not_serving(server: ServerProcess, number: int = signal.SIGTERM) -> None:
    """Sends a signal, and waits until health tells of it."""
    states = seen(server)
    assert next(states) == health_pb2.HealthCheckResponse.SERVING
    server.process.send_signal(number)
    assert next(states) == health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_of_two_servers_one_ends_and_a_balancer_that_follows_health_loses_no_call(
    serve: Serve, number: signal.Signals
) -> None:
    """gRPC's own round robin with client-side health checking."""
    leaving, staying = serve("--drain-delay", "1"), serve()
    policy = {
        "loadBalancingConfig": [{"round_robin": {}}],
        "healthCheckConfig": {"serviceName": SERVICE},
    }
    target = f"ipv4:{leaving.target},{staying.target}"
    answered, failed = 0, list[str]()
    over = asyncio.Event()

    async def call(router: Any) -> None:
        nonlocal answered
        while not over.is_set():
            try:
                await router.Decide(pb.DecideRequest(), timeout=20)
                answered += 1
            except grpc.aio.AioRpcError as error:
                failed.append(f"{error.code()} {error.details()}")

    async with grpc.aio.insecure_channel(target, options=[("grpc.service_config", json.dumps(policy))]) as channel:
        callers = [asyncio.create_task(call(RouterServiceStub(channel))) for _ in range(16)]
        await _until(lambda: answered > 300)
        leaving.process.send_signal(number)
        assert await asyncio.to_thread(leaving.process.wait, 20) == 0
        before = answered
        await _until(lambda: answered > before + 300)
        over.set()
        await asyncio.gather(*callers)
    assert failed == []


async def _until(holds: Callable[[], bool], patience_s: float = 30) -> None:
    deadline = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.01)


def test_a_client_that_watches_health_and_stops_loses_no_call(serve: Serve) -> None:
    server = serve("--drain-delay", "1")
    router, over, counts, failed = server.router, threading.Event(), [0] * 4, list[grpc.RpcError]()

    def call(number: int) -> None:
        while not over.is_set():
            try:
                router.Decide(pb.DecideRequest())
                counts[number] += 1
            except grpc.RpcError as error:
                failed.append(error)

    callers = [threading.Thread(target=call, args=(number,)) for number in range(len(counts))]
    for caller in callers:
        caller.start()
    while sum(counts) < 200 and not failed:
        time.sleep(0.01)
    not_serving(server)
    over.set()
    for caller in callers:
        caller.join()
    assert failed == []
    assert server.process.wait(20) == 0


def test_calls_are_answered_for_the_delay_and_refused_with_a_reason_after_it(
    serve: Serve, files: tuple[str, ...], tmp_path: Path
) -> None:
    """A call is held up by a store that somebody else has locked, so that the server is on its way out for a while."""
    server = serve(*files, "--drain-delay", "1", "--admin", "127.0.0.1:0")
    router = server.router
    router.Decide(pb.DecideRequest(policy_id="daily", request=COUNTED))
    admin = re.search(r"127\.0\.0\.1:\d+", server.wait_for("admin port.*").string)
    assert admin is not None
    assert urllib.request.urlopen(f"http://{admin[0]}/healthz").status == 200
    with closing(sqlite3.connect(tmp_path / "router.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        not_serving(server)
        with pytest.raises(urllib.error.HTTPError, match="503"):
            urllib.request.urlopen(f"http://{admin[0]}/healthz")
        assert "\nrouter_serving 0.0\n" in urllib.request.urlopen(f"http://{admin[0]}/metrics").read().decode()
        refused, held = None, list[Any]()
        answered = 0
        while refused is None:
            held.append(router.Decide.future(pb.DecideRequest(policy_id="daily", request=COUNTED)))
            try:
                router.Decide(pb.DecideRequest())
                answered += 1
            except grpc.RpcError as error:
                refused = error
            time.sleep(0.02)
        other.execute("ROLLBACK")
    assert answered > 5
    assert reason(refused) == DRAINING
    ends = [one.exception() for one in held]
    assert all(end is None or reason(end) == DRAINING for end in ends)
    assert ends[0] is None  # it was under way, and came to its end
    assert server.process.wait(20) == 0


def test_streams_end_with_a_status_on_which_callers_try_again(serve: Serve, files: tuple[str, ...]) -> None:
    server = serve(*files)
    router = server.router
    trace_id = router.Decide(pb.DecideRequest()).decision.trace_id
    hold = threading.Event()

    def decisions() -> Iterator[pb.DecideStreamRequest]:
        for number in range(3):
            yield pb.DecideStreamRequest(decide=pb.DecideRequest(request_id=str(number)))
        hold.wait()

    def reports() -> Iterator[pb.ReportStreamRequest]:
        attempt = Attempt(attempt_id="1", endpoint_id="a", latency_ms=5)
        yield pb.ReportStreamRequest(report=Report(trace_id=trace_id, outcome="accepted", attempts=[attempt]))
        hold.wait()

    decided, reported = router.DecideStream(decisions()), router.ReportStream.future(reports())
    watched = server.catalog.WatchCatalog(catalog_pb.WatchCatalogRequest())
    next(watched)
    assert [next(decided).request_id for _ in range(3)] == ["0", "1", "2"]
    _until_kept(router, trace_id)
    server.process.send_signal(signal.SIGTERM)
    for stream in (decided, watched):
        with pytest.raises(grpc.RpcError) as ended:
            next(stream)
        assert reason(ended.value) == DRAINING
    assert reason(reported.exception()) == DRAINING
    hold.set()
    assert server.process.wait(20) == 0


def _until_kept(router: Any, trace_id: str) -> None:
    deadline = time.monotonic() + 20
    while not router.GetTrace(pb.GetTraceRequest(trace_id=trace_id)).trace.reports:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_was_acknowledged_right_before_the_signal_is_in_the_store(
    serve: Serve, files: tuple[str, ...], tmp_path: Path
) -> None:
    server = serve(*files)
    router = server.router
    traces = []
    for number in range(30):
        decided = router.Decide(pb.DecideRequest(policy_id="daily" if number % 2 else "eu", request=COUNTED))
        traces.append(decided.decision.trace_id)
    attempt = Attempt(attempt_id="1", endpoint_id="a", latency_ms=5, cost=0.25)
    router.Report(pb.ReportRequest(report=Report(trace_id=traces[-1], outcome="accepted", attempts=[attempt])))
    traces.append(router.Decide(pb.DecideRequest()).decision.trace_id)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(20) == 0
    with closing(sqlite3.connect(tmp_path / "router.db")) as kept:
        assert {row[0] for row in kept.execute("SELECT trace_id FROM trace")} == set(traces)
        [[reports]] = kept.execute("SELECT count(*) FROM report WHERE trace_id = ?", (traces[-2],))
        states = dict(kept.execute("SELECT trace_id, state FROM ledger"))
    assert reports == 1
    assert states[traces[-2]] == "reported"
    assert set(states) - {one for one in states if one.startswith("lease-")} == set(traces[1:30:2])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(
    serve: Serve, files: tuple[str, ...], tmp_path: Path, number: signal.Signals
) -> None:
    server = serve(*files, "--drain-delay", LONG, "--grace", LONG)
    router, hold = server.router, threading.Event()
    trace_id = router.Decide(pb.DecideRequest()).decision.trace_id

    def decisions() -> Iterator[pb.DecideStreamRequest]:
        yield pb.DecideStreamRequest(decide=pb.DecideRequest(request_id="0"))
        hold.wait()

    decided = router.DecideStream(decisions())
    next(decided)
    not_serving(server, number)
    assert router.Decide(pb.DecideRequest()).HasField("decision")
    server.process.send_signal(number)
    with pytest.raises(grpc.RpcError) as ended:
        next(decided)
    assert reason(ended.value) == DRAINING
    hold.set()
    assert server.process.wait(20) == 0
    with closing(sqlite3.connect(tmp_path / "router.db")) as kept:
        assert [trace_id] in [[row[0]] for row in kept.execute("SELECT trace_id FROM trace")]


def test_who_was_never_serving_ends_without_a_delay(serve: Serve, tmp_path: Path) -> None:
    """A catalogue of some thousands is still being loaded when the signal comes."""
    endpoints = "".join(
        f"- {{endpoint_id: m{i}@p, model: m, provider: p, country: DE, sovereignty: eu-hosted}}\n" for i in range(12000)
    )
    (tmp_path / "c.yaml").write_text(
        f"currency: EUR\ndefault_policy: eu\nmodels:\n- model: m\nendpoints:\n{endpoints}policies:\n- policy_id: eu\n"
    )
    path = tmp_path / "r.sock"
    server = serve("--listen", f"unix:{path}", "--catalog", str(tmp_path / "c.yaml"), "--drain-delay", LONG)
    while not path.exists():
        time.sleep(0.005)
    health = health_pb2_grpc.HealthStub(server.channel(f"unix:{path}"))
    health.Check(health_pb2.HealthCheckRequest(), wait_for_ready=True, timeout=20)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(20) == 0
