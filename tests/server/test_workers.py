"""Several workers behind one port: real processes that share a store, are killed, replaced and told to end."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client.parser import text_string_to_metric_families

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.catalog_service_pb2_grpc import CatalogServiceStub
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.server.conftest import ServerProcess

Serve = Callable[..., ServerProcess]
PATIENCE_S = 30
COUNTED = RouteRequest(input_tokens=500_000, output_tokens=500_000)  # a euro and more
CATALOG = """\
currency: EUR
default_policy: eu
models: [{model: m}]
endpoints:
- {endpoint_id: a, model: m, provider: p, country: FR, sovereignty: eu-owned, input_price: 1, output_price: 1}
- {endpoint_id: b, model: m, provider: q, country: DE, sovereignty: eu-hosted, input_price: 1, output_price: 1}
policies:
- {policy_id: eu}
- {policy_id: daily, daily_budget: 20}
"""


class Instance:
    """A server of several workers, with its admin port and its files."""

    def __init__(self, serve: Serve, folder: Path, *flags: str, workers: int = 2) -> None:
        self.catalog = folder / "catalog.yaml"
        if not self.catalog.exists():
            self.catalog.write_text(CATALOG)
        files = ("--catalog", str(self.catalog), "--store", f"sqlite:{folder}/router.db")
        self.server = serve("--workers", str(workers), "--admin", "127.0.0.1:0", "--local-admin", *files, *flags)
        self.target = self.server.target
        found = re.search(r"127\.0\.0\.1:\d+", self.server.wait_for('"admin port"').string)
        assert found is not None
        self.admin = found[0]

    def workers(self) -> dict[int, int]:
        """The process ids of its workers, by number as their environment says."""
        return {number: pid for pid in children(self.server.process.pid) if (number := seat_of(pid))}

    def metric(self, name: str, **labels: str) -> float:
        """The sum of what a scrape tells; nothing is 0."""
        page = urllib.request.urlopen(f"http://{self.admin}/metrics").read().decode()
        return sum(
            sample.value
            for family in text_string_to_metric_families(page)
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def healthz(self) -> int:
        with suppress(urllib.error.HTTPError):
            status: int = urllib.request.urlopen(f"http://{self.admin}/healthz").status
            return status
        return 503

    def health(self, service: str = "workers") -> bool:
        """What a worker says of a service."""
        with connection(self.target) as channel:
            asked = health_pb2.HealthCheckRequest(service=service)
            status = health_pb2_grpc.HealthStub(channel).Check(asked, wait_for_ready=True, timeout=10).status
            return status == health_pb2.HealthCheckResponse.SERVING


def children(pid: int) -> list[int]:
    """The processes that a process has started and that live."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def seat_of(pid: int) -> int:
    """The number of a worker; 0 for what is none."""
    with suppress(OSError):
        found = re.search(rb'_ROUTER_SERVICE_SEAT=\{"number":(\d+)', Path(f"/proc/{pid}/environ").read_bytes())
        return int(found[1]) if found else 0
    return 0


@contextmanager
def connection(target: str) -> Iterator[grpc.Channel]:
    """A connection of its own: the system chooses the worker."""
    with grpc.insecure_channel(target, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        yield channel


def until(holds: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)
    return found


def decide(target: str, policy_id: str = "", **request: Any) -> pb.DecideResponse:
    """Over a connection of its own, again where a worker was killed under it."""
    message = pb.DecideRequest(policy_id=policy_id, request=RouteRequest(**request) if request else None)
    for turns_left in reversed(range(5)):
        with connection(target) as channel:
            try:
                answer: pb.DecideResponse = RouterServiceStub(channel).Decide(message, wait_for_ready=True, timeout=20)
            except grpc.RpcError as error:
                if error.code() is not grpc.StatusCode.UNAVAILABLE or not turns_left:
                    raise
            else:
                break
    return answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workers")


@pytest.fixture(scope="module")
def two(folder: Path) -> Iterator[Instance]:
    """An instance of two workers for the tests of this module."""
    running: list[ServerProcess] = []

    def start(*arguments: str) -> ServerProcess:
        running.append(ServerProcess("--listen", "127.0.0.1:0", "--log-level", "debug", *arguments))
        return running[-1]

    try:
        yield Instance(start, folder)
    finally:
        for server in running:
            server.stop()


def test_both_answer_on_one_port(two: Instance) -> None:
    def answering() -> set[str]:
        decide(two.target)
        return {found[1] for line in two.server.lines if (found := re.search(r'"worker":(\d).*"decided"', line))}

    until(lambda: answering() == {"1", "2"})
    assert sorted(two.workers()) == [1, 2]
    assert two.healthz() == 200
    assert two.health()
    assert two.health("router_service.v1.RouterService")


def test_metrics_are_those_of_one_instance(two: Instance) -> None:
    before = two.metric("router_decisions_total")
    for _ in range(40):
        decide(two.target)
    assert two.metric("router_decisions_total") == before + 40
    assert two.metric("router_catalog_endpoints") == 2
    assert two.metric("router_serving") == 1
    assert (two.metric("router_workers"), two.metric("router_workers_wanted")) == (2, 2)
    # What each has of its own adds up, the supervisor's part too.
    resident = sum(rss(pid) for pid in (two.server.process.pid, *two.workers().values()))
    assert two.metric("process_resident_memory_bytes") == pytest.approx(resident, rel=0.2)


def rss(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_the_supervisor_takes_little_memory(two: Instance) -> None:
    assert rss(two.server.process.pid) < min(rss(pid) for pid in two.workers().values()) / 2


def test_budgets_traces_and_circuits_are_shared(two: Instance) -> None:
    answers = [decide(two.target, "daily", input_tokens=500_000, output_tokens=500_000) for _ in range(40)]
    assert sum(answer.HasField("decision") for answer in answers) == 20
    assert {answer.refusal.code for answer in answers} == {"", "budget_exceeded"}
    for answer in answers[:10]:
        with connection(two.target) as channel:
            assert until(partial(found, channel, answer.decision.trace_id)).policy_id == "daily"
    for number in range(5):
        trace_id = decide(two.target, exclude_endpoints=["b"]).decision.trace_id
        attempt = Attempt(attempt_id=str(number), endpoint_id="a", failure_class="transient", status_code=503)
        with connection(two.target) as channel:
            report = Report(trace_id=trace_id, outcome="failed", attempts=[attempt])
            RouterServiceStub(channel).Report(pb.ReportRequest(report=report), timeout=20)
    until(lambda: all(listed(decide(two.target)) == ["b"] for _ in range(12)))


def found(channel: grpc.Channel, trace_id: str) -> Any:
    with suppress(grpc.RpcError):
        return RouterServiceStub(channel).GetTrace(pb.GetTraceRequest(trace_id=trace_id)).trace
    return None


def listed(answer: pb.DecideResponse) -> list[str]:
    return [one.endpoint_id for one in answer.decision.candidates]


def versions(target: str) -> set[str]:
    """Of the catalogue, as a dozen connections see it."""
    seen = set()
    for _ in range(12):
        with connection(target) as channel:
            asked = catalog_pb.ListPoliciesRequest()
            seen.add(CatalogServiceStub(channel).ListPolicies(asked, timeout=20).catalog_version)
    return seen


def test_a_change_is_loaded_once_and_reaches_all(two: Instance) -> None:
    [before] = versions(two.target)
    two.catalog.write_text(CATALOG + "- {policy_id: new}\n")
    [after] = until(lambda: len(seen := versions(two.target)) == 1 and before not in seen and seen)
    with connection(two.target) as channel:
        catalog = CatalogServiceStub(channel)
        same = catalog.Reload(catalog_pb.ReloadRequest(), timeout=30)
        assert (same.catalog_version, same.changed) == (after, False)
        two.catalog.write_text(CATALOG + "- {policy_id: newer}\n")
        newer = catalog.Reload(catalog_pb.ReloadRequest(), timeout=30).catalog_version
    assert newer not in (before, after)
    until(lambda: versions(two.target) == {newer})
    assert two.metric("router_catalog_version") == 1


def test_a_bad_catalogue_is_rejected_by_all_and_a_new_worker_serves_the_last_good_one(two: Instance) -> None:
    good = versions(two.target)
    two.catalog.write_text(CATALOG.replace("eu-owned", "eu-something"))
    until(lambda: not two.health("catalog"))
    with connection(two.target) as channel, pytest.raises(grpc.RpcError) as caught:
        CatalogServiceStub(channel).Reload(catalog_pb.ReloadRequest(), timeout=30)
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "eu-something" in str(caught.value.details())
    replaced(two)
    until(lambda: two.metric("router_catalog_rejected") == 1 and two.health())
    assert versions(two.target) == good
    two.catalog.write_text(CATALOG + "- {policy_id: newest}\n")
    until(lambda: two.metric("router_catalog_rejected") == 0)
    until(lambda: len(versions(two.target) - good) == 1)


def replaced(two: Instance) -> None:
    """Kills a worker, and waits until another is in its place and serves."""
    before = two.workers()
    os.kill(before[1], signal.SIGKILL)
    until(lambda: two.workers().get(1, before[1]) != before[1])
    until(lambda: two.metric("router_workers") == 2)


def test_a_killed_worker_is_replaced_its_absence_is_seen_and_nothing_is_uncounted(two: Instance) -> None:
    exits, lines = two.metric("router_worker_exits_total"), len(two.server.lines)
    for _ in range(20):
        decide(two.target)
    counted = two.metric("router_decisions_total")
    before = two.workers()
    os.kill(before[2], signal.SIGKILL)
    until(lambda: two.metric("router_workers") == 1)
    assert two.healthz() == 200
    assert not two.health()  # of the worker that is left
    assert two.health("")
    assert two.metric("router_decisions_total") == counted
    decide(two.target)
    said = two.server.wait_for("a worker has ended and is replaced", after=lines).string
    assert '"worker":2' in said
    assert '"signal":9' in said
    until(lambda: two.metric("router_workers") == 2)
    assert two.workers()[1] == before[1]
    assert two.workers()[2] != before[2]
    until(two.health)
    assert two.metric("router_decisions_total") == counted + 1
    assert two.metric("router_worker_exits_total") == exits + 1


def test_a_worker_that_is_told_to_end_by_hand_ends_gently_and_is_replaced(two: Instance) -> None:
    """Its last words have all that it counted."""
    for _ in range(20):
        decide(two.target)
    before, counted = two.workers(), two.metric("router_decisions_total")
    os.kill(before[1], signal.SIGTERM)
    until(lambda: two.workers().get(1, before[1]) != before[1] and two.metric("router_workers") == 2)
    assert two.metric("router_decisions_total") == counted


def test_another_server_cannot_come_in(two: Instance, serve: Serve) -> None:
    for flags in ((), ("--workers", "2")):
        other = serve("--listen", two.target, *flags)
        other.wait_for("is the port in use")
        assert other.process.wait(20) == 2


def test_sighup_has_all_load_again(two: Instance) -> None:
    before = two.metric("router_catalog_loads_total", outcome="unchanged")
    two.server.process.send_signal(signal.SIGHUP)
    until(lambda: two.metric("router_catalog_loads_total", outcome="unchanged") == before + 2)


def test_of_two_that_begin_in_the_same_moment_one_gets_the_port(serve: Serve) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    both = [serve("--listen", f"127.0.0.1:{port}", "--workers", "2") for _ in range(2)]
    until(lambda: any(one.process.poll() is not None for one in both))
    loser = next(one for one in both if one.process.poll() is not None)
    assert loser.process.wait() == 2
    loser.wait_for("is the port in use")
    winner = next(one for one in both if one is not loser)
    assert winner.target == f"127.0.0.1:{port}"
    decide(winner.target)


@pytest.mark.parametrize("to_all", [False, True], ids=["to the supervisor", "to the whole group, as systemd does"])
def test_it_ends_gently_by_one_signal(serve: Serve, tmp_path: Path, to_all: bool) -> None:
    one = Instance(serve, tmp_path, "--drain-delay", "1.5", "--grace", "60")
    pids = [one.server.process.pid, *one.workers().values()]
    trace_ids = []
    with connection(one.target) as channel:
        router = RouterServiceStub(channel)
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        trace_ids.append(router.Decide(pb.DecideRequest()).decision.trace_id)
        for pid in reversed(pids) if to_all else pids[:1]:
            os.kill(pid, signal.SIGTERM)
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        until(lambda: one.healthz() == 503)
        trace_ids.append(router.Decide(pb.DecideRequest()).decision.trace_id)
    assert one.server.process.wait(30) == 0
    assert not any(alive(pid) for pid in pids[1:])
    with closing(sqlite3.connect(tmp_path / "router.db")) as kept:
        assert set(trace_ids) == {row[0] for row in kept.execute("SELECT trace_id FROM trace")}


def test_a_second_signal_ends_all_at_once(serve: Serve, tmp_path: Path) -> None:
    one = Instance(serve, tmp_path, "--drain-delay", "60", "--grace", "60")
    one.server.process.send_signal(signal.SIGINT)
    until(lambda: one.healthz() == 503)
    decide(one.target)
    one.server.process.send_signal(signal.SIGINT)
    assert one.server.process.wait(20) == 0


def alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_workers_end_with_their_supervisor(serve: Serve, tmp_path: Path) -> None:
    one = Instance(serve, tmp_path)
    pids = list(one.workers().values())
    one.server.process.kill()
    until(lambda: not any(alive(pid) for pid in pids))
    one.server.wait_for("the supervisor is gone")


def test_what_is_wrong_at_the_start_is_said_once(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CATALOG.replace("FR", "US"))
    server = serve("--workers", "3", "--catalog", str(tmp_path / "c.yaml"))
    assert server.process.wait(30) == 2
    server.wait_for(r"c\.yaml:5: .*sovereignty")
    assert sum("sovereignty" in line for line in server.lines) == 1
    assert not any("Traceback" in line for line in server.lines)


def test_each_worker_has_a_unix_socket_of_its_own(serve: Serve, tmp_path: Path) -> None:
    refused = serve("--workers", "2", "--listen", f"unix:{tmp_path}/r.sock")
    refused.wait_for("cannot listen on one Unix socket; give each its own")
    assert refused.process.wait(20) == 2
    alone = serve("--listen", f"unix:{tmp_path}/r-{{worker}}.sock")
    alone.wait_for("stands for the number of a worker")
    assert alone.process.wait(20) == 2
    server = serve("--workers", "2", "--listen", f"unix:{tmp_path}/r-{{worker}}.sock")
    server.wait_for("all workers serve")
    for number in (1, 2):
        server.wait_for(f"listening on unix:{tmp_path}/r-{number}.sock")
        decide(f"unix:{tmp_path}/r-{number}.sock")


def test_without_a_store_it_says_what_is_not_shared(serve: Serve) -> None:
    server = serve("--workers", "2")
    server.wait_for("No store: each of the workers has circuits")
    decide(server.target)
    refused = serve("--workers", "2", "--local-admin")
    refused.wait_for("a status set by hand would reach one worker alone")
    assert refused.process.wait(20) == 2
