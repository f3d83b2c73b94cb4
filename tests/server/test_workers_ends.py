"""How servers of several workers begin and end."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.server.instance import (
    CATALOG,
    Instance,
    Serve,
    alive,
    connection,
    decide,
    until,
)


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
