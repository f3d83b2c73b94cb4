"""Servers of several workers in processes of their own, and what tests ask of them."""

from __future__ import annotations

import os
import re
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client.parser import text_string_to_metric_families

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.catalog_service_pb2_grpc import CatalogServiceStub
from router_service.v1.route_pb2 import RouteRequest
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.server.conftest import ServerProcess

Serve = Callable[..., ServerProcess]
PATIENCE_S = 30
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

    def __init__(self, serve: Serve, folder: Path, *flags: str, workers: int = 2, store: str = "") -> None:
        """`store` is SQLite in the folder where it is not told."""
        self.catalog = folder / "catalog.yaml"
        if not self.catalog.exists():
            self.catalog.write_text(CATALOG)
        files = ("--catalog", str(self.catalog), "--store", store or f"sqlite:{folder}/router.db")
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


def rss(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


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


def replaced(two: Instance) -> None:
    """Kills a worker, and waits until another is in its place and serves."""
    before = two.workers()
    os.kill(before[1], signal.SIGKILL)
    until(lambda: two.workers().get(1, before[1]) != before[1])
    until(lambda: two.metric("router_workers") == 2)


def alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
