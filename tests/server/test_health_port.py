"""The health port tells what the server's own health service tells, and does nothing else."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.server.conftest import ServerProcess

SERVICE = "router_service.v1.RouterService"
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


def port_of(server: ServerProcess) -> str:
    """Where the health port is."""
    server.wait_for("health port")
    line = next(one for one in server.lines if "health port" in one)
    found = re.search(r"127\.0\.0\.1:\d+", line)
    assert found is not None, line
    return found[0]


def test_a_server_on_a_socket_is_probed_over_tcp_from_the_first_answer_to_the_last(
    serve: Callable[..., ServerProcess], catalog_file: Path, tmp_path: Path
) -> None:
    server = serve(
        *("--listen", f"unix:{tmp_path}/router.sock", "--catalog", str(catalog_file), "--health", "127.0.0.1:0")
    )
    assert server.target == f"unix:{tmp_path}/router.sock"
    probe = health_pb2_grpc.HealthStub(server.channel(port_of(server)))
    for name in ("", SERVICE, "catalog"):
        assert probe.Check(health_pb2.HealthCheckRequest(service=name)).status == SERVING, name
    assert probe.Check(health_pb2.HealthCheckRequest(service="store")).status == NOT_SERVING
    with pytest.raises(grpc.RpcError) as unknown:
        probe.Check(health_pb2.HealthCheckRequest(service="no.such.Service"))
    assert unknown.value.code() == grpc.StatusCode.NOT_FOUND
    watch = probe.Watch(health_pb2.HealthCheckRequest(service=SERVICE))
    assert next(watch).status == SERVING
    server.process.send_signal(signal.SIGTERM)
    assert next(watch).status == NOT_SERVING
    assert server.stop() == 0


def test_it_decides_nothing(serve: Callable[..., ServerProcess], catalog_file: Path) -> None:
    server = serve("--listen", "127.0.0.1:0", "--catalog", str(catalog_file), "--health", "127.0.0.1:0")
    assert server.target
    with pytest.raises(grpc.RpcError) as refused:
        RouterServiceStub(server.channel(port_of(server))).Decide(pb.DecideRequest())
    assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_a_port_that_is_taken_is_one_clear_error(serve: Callable[..., ServerProcess], catalog_file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        server = serve("--listen", "127.0.0.1:0", "--catalog", str(catalog_file), "--health", address)
        server.wait_for(rf"Error: {address}: cannot listen there .*is the port in use")
    assert server.process.wait(10) == 2
