"""How a server begins, where it listens, what it says of itself, and how it ends."""

from __future__ import annotations

import os
import random
import signal
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1 import router_service_pb2_grpc as pb_grpc
from tests.server.conftest import CATALOG, ServerProcess


def test_without_flags_it_says_that_it_serves_the_example(serve: Callable[..., ServerProcess]) -> None:
    server = serve()
    server.wait_for("bundled example catalogue")
    assert server.router.Decide(pb.DecideRequest()).HasField("decision")


def test_a_unix_socket_is_for_owner_and_group(serve: Callable[..., ServerProcess], tmp_path: Path) -> None:
    path = tmp_path / "router.sock"
    server = serve("--listen", f"unix:{path}")
    assert server.target == f"unix:{path}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    assert server.router.Decide(pb.DecideRequest()).HasField("decision")


def test_a_socket_of_the_dead_is_replaced_and_one_of_the_living_is_not(
    serve: Callable[..., ServerProcess], tmp_path: Path
) -> None:
    path = tmp_path / "router.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    first = serve("--listen", f"unix:{path}")
    first.wait_for("listening on")
    second = serve("--listen", f"unix:{path}")
    second.wait_for("another server listens there")
    assert second.process.wait(10) == 2
    file = tmp_path / "file"
    file.write_text("precious")
    third = serve("--listen", f"unix:{file}")
    third.wait_for("no socket is in the way")
    assert file.read_text() == "precious"


def test_a_port_in_use_is_said(serve: Callable[..., ServerProcess]) -> None:
    first = serve()
    second = serve("--listen", first.target)
    second.wait_for("is the port in use")
    assert second.process.wait(10) == 2


@pytest.mark.parametrize(
    ("address", "says"),
    [("0.0.0.0:50051", "--insecure"), ("[::]:50051", "--insecure"), ("50051", "host:port"), ("unix:", "path")],
)
def test_plain_listening_beyond_loopback_must_be_said_out_loud(
    serve: Callable[..., ServerProcess], address: str, says: str
) -> None:
    server = serve("--listen", address)
    server.wait_for(says)
    assert server.process.wait(10) == 2


def test_insecure_said_out_loud_listens_and_has_no_reflection(serve: Callable[..., ServerProcess]) -> None:
    server = serve("--listen", "0.0.0.0:0", "--insecure")
    port = server.target.rpartition(":")[2]
    channel = server.channel(f"127.0.0.1:{port}")
    assert pb_grpc.RouterServiceStub(channel).Decide(pb.DecideRequest()).HasField("decision")
    with pytest.raises(grpc.RpcError) as caught:
        list(reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter([_list_services()])))
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


def _list_services() -> reflection_pb2.ServerReflectionRequest:
    return reflection_pb2.ServerReflectionRequest(list_services="")


def test_reflection_on_loopback_names_the_services(server: ServerProcess) -> None:
    stub = reflection_pb2_grpc.ServerReflectionStub(server.channel())
    (answer,) = stub.ServerReflectionInfo(iter([_list_services()]))
    names = {service.name for service in answer.list_services_response.service}
    assert {"router_service.v1.RouterService", "router_service.v1.CatalogService", "grpc.health.v1.Health"} <= names


@pytest.mark.parametrize("name", ["", "router_service.v1.RouterService", "router_service.v1.CatalogService", "catalog"])
def test_health_of_each_service(server: ServerProcess, name: str) -> None:
    server.wait_for("listening on")
    stub = health_pb2_grpc.HealthStub(server.channel())
    assert stub.Check(health_pb2.HealthCheckRequest(service=name)).status == health_pb2.HealthCheckResponse.SERVING


def test_a_bad_catalogue_at_the_start_ends_with_every_problem(
    serve: Callable[..., ServerProcess], catalog_file: Path
) -> None:
    bad = CATALOG.replace("sovereignty: global", "sovereignty: eu-owned").replace("8192", "-1")
    catalog_file.write_text(bad)
    server = serve("--catalog", str(catalog_file))
    assert server.process.wait(20) == 2
    server.wait_for(r"catalog\.yaml:4: .*context_window")
    server.wait_for(r"catalog\.yaml:9: .*sovereignty")
    assert not any("Traceback" in line for line in server.lines)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_by_signal_with_exit_code_0(serve: Callable[..., ServerProcess], number: signal.Signals) -> None:
    server = serve()
    health = health_pb2_grpc.HealthStub(server.channel())
    states = health.Watch(health_pb2.HealthCheckRequest(service="router_service.v1.RouterService"))
    assert next(states).status == health_pb2.HealthCheckResponse.SERVING
    server.process.send_signal(number)
    assert next(states).status == health_pb2.HealthCheckResponse.NOT_SERVING
    assert server.stop() == 0
    server.wait_for('"stopped"')


def test_it_answers_not_serving_while_the_catalogue_loads(serve: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """A catalogue of some thousands takes a moment; until then calls are UNAVAILABLE and health says NOT_SERVING."""
    endpoints = "".join(
        f"- {{endpoint_id: m{i}@p, model: m, provider: p, country: DE, sovereignty: eu-hosted}}\n" for i in range(12000)
    )
    (tmp_path / "c.yaml").write_text(
        f"currency: EUR\ndefault_policy: eu\nmodels:\n- model: m\nendpoints:\n{endpoints}policies:\n- policy_id: eu\n"
    )
    path = tmp_path / "r.sock"
    server = serve("--listen", f"unix:{path}", "--catalog", str(tmp_path / "c.yaml"))
    deadline = time.monotonic() + 20
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    channel = server.channel(f"unix:{path}")
    health, router = health_pb2_grpc.HealthStub(channel), pb_grpc.RouterServiceStub(channel)
    early = health.Check(health_pb2.HealthCheckRequest(), wait_for_ready=True, timeout=20)
    assert early.status == health_pb2.HealthCheckResponse.NOT_SERVING
    with pytest.raises(grpc.RpcError) as caught:
        router.Decide(pb.DecideRequest())
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert "no catalogue" in str(caught.value.details())
    server.wait_for("listening on")
    assert health.Check(health_pb2.HealthCheckRequest()).status == health_pb2.HealthCheckResponse.SERVING
    assert router.Decide(pb.DecideRequest()).decision.considered == 12000


def test_a_name_with_two_addresses_is_never_bound_by_halves(serve: Callable[..., ServerProcess]) -> None:
    port = serve().target.rpartition(":")[2]
    second = serve("--listen", f"localhost:{port}")
    second.wait_for("is the port in use")
    assert second.process.wait(10) == 2


def test_who_watches_does_not_hold_up_the_end(serve: Callable[..., ServerProcess]) -> None:
    server = serve("--grace", "30")
    watch = server.catalog.WatchCatalog(catalog_pb.WatchCatalogRequest())
    next(watch)
    health = health_pb2_grpc.HealthStub(server.channel()).Watch(health_pb2.HealthCheckRequest())
    next(health)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(10) == 0
    with pytest.raises(grpc.RpcError) as caught:
        next(watch)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("raw", [b"\xff", b"\x0a\x05ab"])
@pytest.mark.parametrize("method", ["RouterService/Decide", "RouterService/Explain", "CatalogService/ListEndpoints"])
def test_bytes_that_are_no_message_get_a_clear_answer(server: ServerProcess, method: str, raw: bytes) -> None:
    call: Any = server.channel().unary_unary(f"/router_service.v1.{method}")
    with pytest.raises(grpc.RpcError) as caught:
        call(raw)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_random_bytes_never_cause_a_fault(server: ServerProcess) -> None:
    """Two thousand broken requests: each is answered, or refused for what it is."""
    rng = random.Random(7)
    good = pb.DecideRequest(request_id="r", policy_id="global").SerializeToString()
    call: Any = server.channel().unary_unary("/router_service.v1.RouterService/Decide")
    codes = set()
    for _ in range(2000):
        raw = bytearray(good + rng.randbytes(rng.randrange(12)))
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        try:
            call(bytes(raw))
        except grpc.RpcError as error:
            codes.add(error.code())
    assert codes <= {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND}


def test_a_pipe_is_no_catalogue_and_ends_nothing(serve: Callable[..., ServerProcess], catalog_file: Path) -> None:
    server = serve("--catalog", str(catalog_file))
    server.wait_for("listening on")
    catalog_file.unlink()
    os.mkfifo(catalog_file)
    server.wait_for("not a file.*catalogue rejected")
    catalog_file.unlink()
    catalog_file.write_text(CATALOG.replace("8192", "9999"))
    server.wait_for("catalogue loaded", after=len(server.lines))
    assert server.stop() == 0
