"""Two processes on one store: what is reported to one is obeyed by the other, and a place is had by one of both."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from tests.server.conftest import ServerProcess
from tests.server.live import CATALOG, FAILED, ids
from tests.server.test_shared_store import url
from tests.store.redis_server import RedisServer

__all__ = ["url"]  # a fixture

Start = Callable[..., ServerProcess]
PATIENCE_S = 15


class Pair:
    """Two servers over one catalogue and one store."""

    def __init__(self, serve: Start, folder: Path, url: str, circuits: str) -> None:
        (folder / "catalog.yaml").write_text(f"{CATALOG}circuits: {circuits}\n")
        self._serve = serve
        self._arguments = ("--catalog", str(folder / "catalog.yaml"), "--store", url, "--local-admin")
        self.servers = [self.start() for _ in range(2)]
        self.routers = [server.router for server in self.servers]
        self.catalogs = [server.catalog for server in self.servers]

    def start(self) -> ServerProcess:
        return self._serve(*self._arguments)

    def decide(self, number: int) -> pb.DecideResponse:
        answer: pb.DecideResponse = self.routers[number % 2].Decide(pb.DecideRequest(), timeout=20)
        return answer

    def decide_at_once(self, count: int = 100) -> list[pb.DecideResponse]:
        """So many decisions at once, every other one at the other server."""
        with ThreadPoolExecutor(20) as clients:
            return list(clients.map(self.decide, range(count)))

    def report(self, number: int, trace_id: str, endpoint_id: str, **attempt: object) -> None:
        one = Attempt(attempt_id="1", endpoint_id=endpoint_id, **attempt)
        outcome = "failed" if attempt.get("failure_class") else "accepted"
        report = Report(trace_id=trace_id, outcome=outcome, attempts=[one])
        self.routers[number].Report(pb.ReportRequest(report=report), timeout=20)

    def set_status(self, number: int, endpoint_id: str, status: str) -> bool:
        message = catalog_pb.SetEndpointStatusRequest(endpoint_id=endpoint_id, status=status)
        return bool(self.catalogs[number].SetEndpointStatus(message, timeout=20).kept)

    def circuit(self, number: int) -> str:
        """That of endpoint a."""
        page = self.catalogs[number].ListEndpoints(catalog_pb.ListEndpointsRequest(), timeout=20)
        return str(page.endpoints[0].circuit)

    def open(self) -> None:
        """Opens the circuit of endpoint a by reports to the first server, of decisions of both."""
        answers = [self.decide(number) for number in range(5)]
        for answer in answers:
            self.report(0, answer.decision.trace_id, "a", **FAILED)
        assert self.circuit(0) == "open"


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


def test_what_one_is_told_the_other_obeys(serve: Start, tmp_path: Path, url: str) -> None:
    pair = Pair(serve, tmp_path, url, "{open_ms: 600000, open_max_ms: 600000}")
    assert [ids(pair.decide(number)) for number in range(2)] == [["a", "b", "c"]] * 2
    pair.open()
    assert ids(pair.decide(0)) == ["b", "c"]
    until(lambda: ids(pair.decide(1)) == ["b", "c"])
    assert pair.set_status(0, "b", "maintenance")
    until(lambda: ids(pair.decide(1)) == ["c"])
    pair.servers[0].stop(signal.SIGKILL)
    assert ids(pair.decide(1)) == ["c"]
    # Who comes later knows it from the first decision on.
    pair.servers[0] = pair.start()
    pair.routers[0], pair.catalogs[0] = pair.servers[0].router, pair.servers[0].catalog
    assert ids(pair.decide(0)) == ["c"]
    assert pair.set_status(1, "b", "")
    until(lambda: ids(pair.decide(0)) == ["b", "c"])


def test_of_a_hundred_decisions_at_both_one_is_a_probe(serve: Start, tmp_path: Path, url: str) -> None:
    pair = Pair(serve, tmp_path, url, "{open_ms: 1000, probe_ms: 600000}")
    pair.open()
    until(lambda: all(pair.circuit(number) == "half_open" for number in range(2)))
    for teller in range(2):
        answers = pair.decide_at_once()
        assert all(answer.HasField("decision") for answer in answers)
        [probe] = [answer.decision.trace_id for answer in answers if "a" in ids(answer)]
        assert not any("a" in ids(answer) for answer in pair.decide_at_once(20))
        pair.report(teller, probe, "a", status_code=200)
    until(lambda: all(pair.circuit(number) == "closed" for number in range(2)))
    assert all("a" in ids(answer) for answer in pair.decide_at_once(20))


def test_while_the_store_is_lost_each_obeys_what_it_knows(serve: Start, tmp_path: Path, redis: RedisServer) -> None:
    pair = Pair(serve, tmp_path, f"redis://127.0.0.1:{redis.port}/0", "{open_ms: 3000, probe_ms: 600000}")
    pair.open()
    until(lambda: pair.circuit(1) == "open")
    redis.stop()
    assert not pair.set_status(0, "b", "down")
    assert ids(pair.decide(0)) in (["c"], ["a", "c"])
    until(lambda: all(pair.circuit(number) == "half_open" for number in range(2)))
    for number in range(2):
        assert sum("a" in ids(pair.decide(number)) for _ in range(5)) <= 1
        assert [place for place in range(2) if "a" in ids(pair.decide(number))] == []
    redis.start()
    until(lambda: "b" not in ids(pair.decide(1)))
