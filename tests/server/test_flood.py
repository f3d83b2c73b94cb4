"""A flood of every kind by one caller: the others are served, what is refused is counted, and memory is bounded.

Bounded in count and time, on loopback. How much longer another caller waits meanwhile, benchmarks/flood.py measures.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client.parser import text_string_to_metric_families

from router_service.server.limits import STATELESS_BYTES
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.callers.files import entry, token_of
from tests.server.conftest import CATALOG, ServerProcess
from tests.server.frames import unfinished

SECONDS, MORE_MB = 5, 250
CALLERS = """\
callers:
- {caller: light, roles: [decide], policies: ['*']}
- {caller: heavy, roles: [decide, report, read], policies: ['*']}
tokens:
"""
MANY = "".join(
    f"- {{endpoint_id: e{number}, model: large, provider: a, country: FR, sovereignty: eu-owned}}\n"
    for number in range(1000)
)
# What calls must have been refused for, however far the flood got, beside what gRPC refuses itself.
REACHED = {"message_size", "metadata_size", "streams_per_caller", "calls_per_caller", "calls_beside"}
DECIDE, WATCH = "/router_service.v1.RouterService/Decide", "/grpc.health.v1.Health/Watch"
REFLECT = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"


def bearer(caller: str) -> str:
    return f"Bearer {token_of(caller)}"


@pytest.fixture
def flooded(serve: Callable[..., ServerProcess], tmp_path: Path) -> ServerProcess:
    """A server that knows its callers, with limits that a test can reach."""
    (tmp_path / "catalog.yaml").write_text(CATALOG.replace("policies:", MANY + "policies:", 1))
    (tmp_path / "callers.yaml").write_text(CALLERS + entry("light") + entry("heavy"))
    files = ("--catalog", str(tmp_path / "catalog.yaml"), "--callers", str(tmp_path / "callers.yaml"))
    few = ("--max-streams-per-caller", "100", "--max-calls-per-caller", "100", "--max-connections", "150")
    return serve(*files, *few, "--store", f"sqlite:{tmp_path}/router.db", "--admin", "127.0.0.1:0")


def test_another_caller_is_served_through_a_flood_of_every_kind(flooded: ServerProcess) -> None:
    server = flooded
    address = re.search(r"127\.0\.0\.1:\d+", server.wait_for('"admin port"').string)
    assert address is not None
    metadata = (("authorization", bearer("light")),)
    with grpc.insecure_channel(server.target) as channel:
        decide = RouterServiceStub(channel).Decide
        assert decide(pb.DecideRequest(), metadata=metadata).HasField("decision")
        before = resident_mb(server)
        command = [sys.executable, "-m", "benchmarks.flooding", server.target, str(SECONDS), bearer("heavy"), "all"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as flood:
            greatest, answered = before, 0
            while flood.poll() is None:
                assert decide(pb.DecideRequest(), metadata=metadata, timeout=20).HasField("decision")
                answered += 1
                greatest = max(greatest, resident_mb(server))
                time.sleep(0.005)
            assert flood.stdout is not None
            ends = json.loads(flood.stdout.read())
        assert decide(pb.DecideRequest(), metadata=metadata).HasField("decision")
    assert answered > 20
    assert ends["OK"] > 100  # a heavy caller is slowed down, and not shut out
    assert ends["RESOURCE_EXHAUSTED"] > 20
    assert ends["INVALID_ARGUMENT"] > 20  # of calls that brought no message, among others
    assert greatest - before < MORE_MB
    page = urllib.request.urlopen(f"http://{address[0]}/metrics").read().decode()
    limited = {
        sample.labels["limit"]: sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == "router_limited_total"
    }
    assert {limit for limit in REACHED if limited[limit] == 0} == set()
    assert not any("fault" in line or "Traceback" in line for line in server.lines)


async def test_strangers_who_hold_calls_open_shut_nobody_out(flooded: ServerProcess) -> None:
    """Five thousand calls without a credential over fifty connections, of which none brings a message."""
    options, metadata = [("grpc.use_local_subchannel_pool", 1)], (("authorization", bearer("light")),)
    async with AsyncExitStack() as stack:
        for _ in range(50):
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(flooded.target, options=options))
            for path in (DECIDE, WATCH, REFLECT):
                held: list[Any] = [channel.stream_stream(path)() for _ in range(33)]
                assert len(held) == 33
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(flooded.target, options=options))
        for _ in range(20):
            answer = await RouterServiceStub(channel).Decide(pb.DecideRequest(), metadata=metadata, timeout=10)
            assert answer.HasField("decision")
            told = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=10)
            assert told.status == health_pb2.HealthCheckResponse.SERVING
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("method", ["Decide", "DecideStream"])
async def test_messages_that_are_never_finished_take_bounded_memory(
    serve: Callable[..., ServerProcess], tmp_path: Path, method: str
) -> None:
    """Of a server that takes the largest and knows nobody: four hundred at a time, more than a gigabyte in all."""
    (tmp_path / "catalog.yaml").write_text(CATALOG)
    server = serve("--catalog", str(tmp_path / "catalog.yaml"), "--stateless")
    target, path = server.target, f"/router_service.v1.RouterService/{method}"
    before = greatest = resident_mb(server)
    async with AsyncExitStack() as stack:
        for _ in range(4):
            await stack.enter_async_context(unfinished(target, path, 100, STATELESS_BYTES))
        options = [("grpc.use_local_subchannel_pool", 1)]
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(target, options=options))
        for _ in range(40):
            answer = await RouterServiceStub(channel).Decide(pb.DecideRequest(), timeout=10)
            assert answer.HasField("decision")
            greatest = max(greatest, resident_mb(server))
            await asyncio.sleep(0.1)
    assert 20 < greatest - before < 400


def resident_mb(server: ServerProcess) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024
