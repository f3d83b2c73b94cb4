"""Limits of health and reflection, which anybody may ask, and of the ports beside gRPC's own."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from router_service.server import limits
from tests.server.conftest import ServerProcess
from tests.server.frames import DATA, END_STREAM, PREFACE, SETTINGS, call, frame
from tests.server.in_process import failure
from tests.server.limited import EXHAUSTED, REACHED, limited, refused
from tests.server.live import Live, serving, until

CHECK, WATCH = "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"
REFLECT = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
SERVING = health_pb2.HealthCheckResponse.SERVING
ASKED = health_pb2.HealthCheckRequest()
LIST = reflection_pb2.ServerReflectionRequest(list_services="")


@asynccontextmanager
async def connection(live: Live) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(live.target, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        yield channel


async def watching(channel: grpc.aio.Channel) -> Any:
    watch = health_pb2_grpc.HealthStub(channel).Watch(ASKED)
    assert (await watch.read()).status == SERVING
    return watch


async def reflecting(channel: grpc.aio.Channel) -> Any:
    stream = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo()
    await stream.write(LIST)
    assert len((await stream.read()).list_services_response.service) == 4
    return stream


async def is_well(channel: grpc.aio.Channel) -> None:
    assert (await health_pb2_grpc.HealthStub(channel).Check(ASKED, timeout=5)).status == SERVING


def beside(live: Live) -> float:
    return live.registry.get_sample_value("router_calls_beside") or 0


@pytest.mark.parametrize(
    ("opened", "most"), [(watching, limits.WATCHES_A_CONNECTION), (reflecting, limits.REFLECTIONS_A_CONNECTION)]
)
async def test_one_connection_has_few(tmp_path: Path, opened: Any, most: int) -> None:
    async with serving(tmp_path) as live, connection(live) as channel, connection(live) as other:
        held = [await opened(channel) for _ in range(most)]
        assert beside(live) == most
        path = WATCH if opened is watching else REFLECT
        again: Any = channel.stream_stream(path)()
        if opened is watching:
            await again.write(b"")
        await refused(live, again.read(), "calls_beside")
        await opened(other)
        await is_well(channel)
        held[0].cancel()

        async def ended() -> bool:
            return beside(live) == most

        await until(ended)
        await opened(channel)


@pytest.mark.parametrize(("opened", "constant"), [(watching, "WATCHES"), (reflecting, "REFLECTIONS")])
async def test_the_oldest_of_too_many_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Any, constant: str
) -> None:
    monkeypatch.setattr(limits, constant, 2)
    async with serving(tmp_path) as live, connection(live) as one, connection(live) as two, connection(live) as three:
        oldest, second = await opened(one), await opened(two)
        await opened(three)
        code, reason, _ = await failure(oldest.read())
        assert (code, reason) == (EXHAUSTED, REACHED)
        assert limited(live, "calls_beside") == 1
        assert not second.done()
        assert beside(live) == 2
        await is_well(one)


async def test_a_stream_of_reflection_on_which_nothing_is_asked_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STALLED_S", 0.4)
    async with serving(tmp_path) as live, connection(live) as channel:
        stream = await reflecting(channel)
        await refused(live, stream.read(), "stalled")


@pytest.mark.parametrize("path", [CHECK, WATCH, REFLECT])
async def test_bytes_that_are_no_message_are_told_so_in_words(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path) as live, connection(live) as channel:
        asked: Any = channel.stream_stream(path)(iter([b"\xff\xff\xff"]))
        code, reason, fields = await failure(asked.read())
        assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
        assert re.fullmatch(r"these bytes are no grpc\.\S+; send the message of the contract", fields[""])


async def test_a_name_that_is_too_long_and_one_that_is_not_known(tmp_path: Path) -> None:
    async with serving(tmp_path) as live, connection(live) as channel:
        check = health_pb2_grpc.HealthStub(channel).Check
        await refused(live, check(health_pb2.HealthCheckRequest(service="x" * 1100)), "message_size")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await check(health_pb2.HealthCheckRequest(service="no.such"))
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND
        assert 'no service is named "no.such"; ask for one of ""' in (caught.value.details() or "")


async def test_check_has_room_while_others_send_no_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ARRIVING_BESIDE_BYTES", 0)
    async with serving(tmp_path) as live, connection(live) as one, connection(live) as two, connection(live) as other:
        for channel in (one, two):
            held: list[Any] = [channel.stream_unary(CHECK)() for _ in range(30)]
            assert len(held) == 30

        async def waiting() -> bool:
            return (live.registry.get_sample_value("router_calls_arriving") or 0) > 20

        await until(waiting)
        await is_well(other)


async def test_who_takes_nothing_of_a_watch_keeps_nobody_from_being_told(tmp_path: Path) -> None:
    """It says that it has no room for a single byte; the server leaves all the same, and others learn of it."""
    async with serving(tmp_path) as live, connection(live) as channel:
        host, port = live.target.rsplit(":", 1)
        _, writer = await asyncio.open_connection(host, int(port))
        no_window = struct.pack(">HI", 4, 0)
        begun = PREFACE + frame(SETTINGS, 0, 0, no_window) + call(WATCH, 1)
        writer.write(begun + frame(DATA, END_STREAM, 1, bytes(5)))

        async def watched() -> bool:
            return beside(live) == 1

        await until(watched)
        watch = await watching(channel)
        await asyncio.wait_for(live._app._serving.leave(), 5)
        assert (await asyncio.wait_for(watch.read(), 5)).status == health_pb2.HealthCheckResponse.NOT_SERVING
        writer.close()


def test_ports_beside_have_few_connections_and_take_no_files_from_others(
    serve: Callable[..., ServerProcess], catalog_file: Path
) -> None:
    ports = ("--health", "127.0.0.1:0", "--admin", "127.0.0.1:0")
    server = serve("--listen", "127.0.0.1:0", "--catalog", str(catalog_file), *ports)
    assert server.target
    found = {}
    for name in ("health port", "admin port"):
        server.wait_for(name)
        line = next(one for one in server.lines if name in one)
        address = re.search(r"127\.0\.0\.1:(\d+)", line)
        assert address is not None
        found[name] = int(address[1])
    asked = {
        "health port": PREFACE + frame(SETTINGS, 0, 0),
        "admin port": b"GET /metrics HTTP/1.1\r\n",
    }
    before = files_of(server)
    with ExitStack() as stack:
        for name, port in found.items():
            for _ in range(4 * limits.PORT_CONNECTIONS):
                one = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
                one.sendall(asked[name])
        page = urllib.request.urlopen(f"http://127.0.0.1:{found['admin port']}/metrics", timeout=5).read()
        assert b"router_calls_beside 0.0" in page
        assert files_of(server) - before <= 2 * limits.PORT_CONNECTIONS + 20
        assert health_pb2_grpc.HealthStub(server.channel()).Check(ASKED, timeout=5).status == SERVING
    assert not any("Traceback" in line for line in server.lines)


def files_of(server: ServerProcess) -> int:
    """How many files the process has open."""
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
