"""The service is probed by the real grpc-health-probe and by Envoy, over each way that it listens."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from router_service.v1 import router_service_pb2 as pb
from tests.deploy.balancer import PATIENCE_S, SERVICE, Balancer
from tests.deploy.kubernetes import tool
from tests.server.conftest import ServerProcess
from tests.server.identity.secured import AUTHORITY
from tests.store.redis_server import free_port

# What grpc-health-probe's exit codes mean: it is well, nobody speaks gRPC there, no such service, it says no.
WELL, UNREACHABLE, UNKNOWN, UNWELL = 0, 2, 3, 4


def probe(address: str, service: str = "", *flags: str) -> int:
    command = [tool("grpc-health-probe"), f"-addr={address}", f"-service={service}", *flags]
    return subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False).returncode


def health_port(server: ServerProcess) -> str:
    """Where a server answers health checks alone."""
    server.wait_for("health port")
    found = re.search(r"127\.0\.0\.1:\d+", next(one for one in server.lines if "health port" in one))
    assert found is not None
    return found[0]


def test_over_tcp_and_over_a_socket(serve: Callable[..., ServerProcess], catalog_file: Path, tmp_path: Path) -> None:
    socket = f"unix:{tmp_path}/router.sock"
    server = serve("--listen", "127.0.0.1:0", "--listen", socket, "--catalog", str(catalog_file))
    for address in (server.target, socket):
        assert probe(address) == WELL
        assert probe(address, SERVICE) == WELL
        assert probe(address, "no.such.Service") == UNKNOWN
        assert probe(address, "store") == UNWELL  # there is none
    server.stop()
    assert probe(server.target) == UNREACHABLE


def test_over_tls_and_beside_it(serve: Callable[..., ServerProcess], catalog_file: Path, tmp_path: Path) -> None:
    """A node knows no TLS and has no certificate: that is what the health port is for."""
    cert, key = AUTHORITY.issue("localhost", "127.0.0.1").write(tmp_path)
    authority = AUTHORITY.write(tmp_path)
    files = ("--tls-cert", str(cert), "--tls-key", str(key), "--tls-client-ca", str(authority))
    listen = ("--listen", "tls:127.0.0.1:0", "--listen", "mtls:127.0.0.1:0", "--health", "127.0.0.1:0")
    server = serve(*listen, *files, "--catalog", str(catalog_file))
    one_way, mutual = (
        server.wait_for(rf"^listening on (\S+) \({kind}\)")[1] for kind in ("TLS", "TLS, clients' certificates")
    )
    trust = ("-tls", f"-tls-ca-cert={authority}")
    mine = (f"-tls-client-cert={cert}", f"-tls-client-key={key}")
    assert probe(one_way, SERVICE, *trust) == WELL
    assert probe(mutual, SERVICE, *trust, *mine) == WELL
    assert probe(mutual, SERVICE, *trust) == UNREACHABLE
    assert probe(one_way, SERVICE) == UNREACHABLE
    assert probe(health_port(server), SERVICE) == WELL


@pytest.mark.parametrize("apart", [False, True], ids=["on the port of decisions", "on the health port"])
def test_it_says_no_while_it_drains_and_still_decides(
    serve: Callable[..., ServerProcess], catalog_file: Path, tmp_path: Path, apart: bool
) -> None:
    """Envoy, which asks for itself, goes elsewhere before any call is refused."""
    port = free_port()
    server = serve(
        *("--listen", f"127.0.0.1:{port}", "--health", "127.0.0.1:0", "--catalog", str(catalog_file)),
        *("--drain-delay", str(PATIENCE_S)),
    )
    asked = health_port(server) if apart else server.target
    router = server.router
    with Balancer(tmp_path, [port], [int(asked.rpartition(":")[2])]) as balancer:
        balancer.wait_for({port})
        assert probe(asked, SERVICE) == WELL
        server.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_S / 2
        while (said := probe(asked, SERVICE)) != UNWELL:
            assert said == WELL
            assert time.monotonic() < deadline
        assert probe(asked) == UNWELL
        balancer.wait_for(set())
        assert router.Decide(pb.DecideRequest()).decision.candidates
    server.process.send_signal(signal.SIGTERM)  # the second ends it at once
    assert server.stop() == 0


def test_it_says_no_before_its_first_catalogue(serve: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """One of 10,000 endpoints takes longer to load than the next probe to come."""
    entries = "".join(
        f"- {{endpoint_id: m@{number}, model: m, provider: p{number}, country: FR, sovereignty: eu-owned}}\n"
        for number in range(10_000)
    )
    head = "currency: EUR\ndefault_policy: eu\npolicies: [{policy_id: eu}]\nmodels: [{model: m}]\nendpoints:\n"
    (tmp_path / "catalog.yaml").write_text(head + entries)
    port = free_port()
    server = serve("--listen", f"127.0.0.1:{port}", "--catalog", str(tmp_path))
    said: list[int] = []
    deadline = time.monotonic() + PATIENCE_S
    while not said or said[-1] != WELL:
        assert time.monotonic() < deadline
        said.append(probe(f"127.0.0.1:{port}", SERVICE))
    assert server.target
    assert said == sorted(said, key=[UNREACHABLE, UNWELL, WELL].index)
    assert UNWELL in said
