"""Two service processes on one store, and services that are killed: budgets and reports hold whatever happens."""

from __future__ import annotations

import asyncio
import random
import signal
import sqlite3
import threading
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from redis import Redis

from router_service.policies.leases import PREFIX
from router_service.store.interface import Spending
from router_service.store.open import open_store
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest
from tests.server.conftest import ServerProcess
from tests.store.redis_server import RedisServer

Start = Callable[..., ServerProcess]
CATALOG = """\
currency: EUR
default_policy: free
models: [{model: m}]
endpoints:
- {endpoint_id: paid, model: m, provider: p, country: DE, sovereignty: eu-hosted, input_price: 10, output_price: 10}
policies:
- {policy_id: free}
- {policy_id: half, daily_budget: 0.5}
- {policy_id: much, daily_budget: 1000}
- {policy_id: open, daily_budget: 0.5, budget_fail_open: true}
"""
CENT = 10**10
# 1,000 tokens at 10 a million: one cent.
ONE_CENT = RouteRequest(input_tokens=600, output_tokens=400)


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    path = tmp_path / "catalog.yaml"
    path.write_text(CATALOG)
    return path


@pytest.fixture(params=["sqlite", "redis"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:{tmp_path}/router.db"
    return f"redis://127.0.0.1:{request.getfixturevalue('redis').port}/0"


def _decide(server: ServerProcess, policy_id: str) -> pb.DecideResponse:
    return server.router.Decide(pb.DecideRequest(policy_id=policy_id, request=ONE_CENT), timeout=20)


def _spent(url: str, policy_id: str) -> Spending:
    async def ask() -> Spending:
        store = open_store(url)
        await store.open()
        try:
            return await store.spending(policy_id, datetime.now(UTC).date().isoformat())
        finally:
            await store.close()

    return asyncio.run(ask())


def _leased(url: str) -> int:
    """What the leases in a store hold that nobody took out of them, of all policies."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:"))) as db:
            found = db.execute("SELECT trace_id, amount FROM ledger WHERE state = 'open'").fetchall()
    else:
        with Redis.from_url(url) as client:
            members = [one.decode() for key in client.scan_iter("*:open") for one in client.zrange(key, 0, -1)]
        found = [(trace_id, amount) for _, amount, trace_id in (one.split(":", 2) for one in members)]
    return sum(int(amount) for trace_id, amount in found if trace_id.startswith(PREFIX))


def _metric(server: ServerProcess, name: str) -> float:
    admin = server.wait_for(r'"address":"([^"]+)"')[1]
    with urllib.request.urlopen(f"http://{admin}/metrics") as page:
        lines = page.read().decode().splitlines()
    return float(next(line for line in lines if line.startswith(f"{name} ")).split()[-1])


def test_two_processes_agree_on_budget_and_traces(serve: Start, catalog: Path, url: str) -> None:
    servers = [serve("--catalog", str(catalog), "--store", url) for _ in range(2)]
    stubs = [server.router for server in servers]
    request = pb.DecideRequest(policy_id="half", request=ONE_CENT)
    with ThreadPoolExecutor(20) as clients:
        answers = list(clients.map(lambda number: stubs[number % 2].Decide(request, timeout=20), range(100)))
    decided = [answer.decision for answer in answers if answer.HasField("decision")]
    refused = [answer.refusal for answer in answers if answer.HasField("refusal")]
    assert (len(decided), len(refused)) == (50, 50)
    assert {one.code for one in refused} == {"budget_exceeded"}
    assert _spent(url, "half") == Spending(0, 50 * CENT)
    # What one decided the other knows, and a report may come to either.
    for number, decision in enumerate(decided[:6]):
        trace = stubs[number % 2].GetTrace(pb.GetTraceRequest(trace_id=decision.trace_id)).trace
        assert trace.decision.candidates[0].endpoint_id == "paid"
        attempt = Attempt(attempt_id="1", endpoint_id="paid", input_tokens=600, output_tokens=400)
        report = pb.ReportRequest(report=Report(trace_id=decision.trace_id, outcome="accepted", attempts=[attempt]))
        for stub in stubs:
            stub.Report(report)
    assert _spent(url, "half") == Spending(6 * CENT, 44 * CENT)


def test_twenty_kills_lose_no_reservation_and_no_acknowledged_report(serve: Start, catalog: Path, url: str) -> None:
    rng = random.Random(20)
    decided: set[str] = set()
    acknowledged: set[str] = set()
    for _ in range(20):
        server = serve("--catalog", str(catalog), "--store", url)
        stub, stop = server.router, threading.Event()

        def work(stub: object = stub, stop: threading.Event = stop) -> None:
            while not stop.is_set():
                try:
                    request = pb.DecideRequest(policy_id="much", request=ONE_CENT)
                    trace_id = stub.Decide(request, timeout=5).decision.trace_id  # type: ignore[attr-defined]
                    decided.add(trace_id)
                    attempt = Attempt(attempt_id="1", endpoint_id="paid", input_tokens=300, output_tokens=200)
                    report = Report(trace_id=trace_id, outcome="accepted", attempts=[attempt])
                    stub.Report(pb.ReportRequest(report=report), timeout=5)  # type: ignore[attr-defined]
                    acknowledged.add(trace_id)
                except grpc.RpcError:
                    return

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        time.sleep(0.1 + rng.random() * 0.3)
        server.process.kill()
        stop.set()
        for worker in workers:
            worker.join()
        server.stop()
    assert len(acknowledged) > 40
    spent = _spent(url, "much")
    # Each acknowledged report settled half a cent. A decision that was answered holds its cent or was reported; one
    # that was under way at a kill may count too, though nobody heard of it; what the leases of killed processes hold
    # counts as spent beside these.
    assert spent.settled >= len(acknowledged) * CENT // 2
    assert spent.settled % (CENT // 2) == 0
    assert spent.reserved % CENT == 0
    settled, reserved = spent.settled // (CENT // 2), spent.reserved // CENT
    assert settled + reserved >= len(decided)
    assert settled + reserved - _leased(url) // CENT <= len(decided) + 20 * 4
    server = serve("--catalog", str(catalog), "--store", url)
    for trace_id in acknowledged:
        trace = server.router.GetTrace(pb.GetTraceRequest(trace_id=trace_id)).trace
        assert [report.outcome for report in trace.reports] == ["accepted"]


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_slow_or_lost_store_fails_no_decision_that_has_no_budget(
    serve: Start, catalog: Path, redis: RedisServer, how: signal.Signals
) -> None:
    url = f"redis://127.0.0.1:{redis.port}/0"
    server = serve("--catalog", str(catalog), "--store", url, "--admin", "127.0.0.1:0")
    health = health_pb2_grpc.HealthStub(server.channel())

    def store_health() -> int:
        return int(health.Check(health_pb2.HealthCheckRequest(service="store")).status)

    assert _decide(server, "half").HasField("decision")
    assert store_health() == health_pb2.HealthCheckResponse.SERVING
    if how is signal.SIGSTOP:
        redis.send(signal.SIGSTOP)
    else:
        redis.stop()
    begun = time.monotonic()
    for _ in range(50):
        assert _decide(server, "free").HasField("decision")
    assert time.monotonic() - begun < 5
    assert _decide(server, "half").refusal.code == "budget_exceeded"
    assert _decide(server, "open").HasField("decision")
    server.wait_for("store lost")
    assert store_health() == health_pb2.HealthCheckResponse.NOT_SERVING
    assert _metric(server, "router_store_lost") == 1
    if how is signal.SIGSTOP:
        redis.send(signal.SIGCONT)
    else:
        redis.start()
    server.wait_for("store is back")
    assert _decide(server, "half").HasField("decision")
    assert store_health() == health_pb2.HealthCheckResponse.SERVING
    assert _metric(server, "router_store_lost") == 0
    # What was decided meanwhile was kept, and is written now.
    pages = server.router.ListTraces(pb.ListTracesRequest(page_size=1000, policy_id="free"))
    assert len(pages.traces) == 50
    assert _metric(server, "router_traces_dropped_total") == 0


def test_a_server_begins_without_its_store_and_finds_it_later(serve: Start, catalog: Path, redis: RedisServer) -> None:
    url = f"redis://127.0.0.1:{redis.port}/0"
    redis.stop()
    server = serve("--catalog", str(catalog), "--store", url)
    assert _decide(server, "free").HasField("decision")
    assert _decide(server, "half").HasField("refusal")
    redis.start()
    server.wait_for("store is back")
    assert _decide(server, "half").HasField("decision")
