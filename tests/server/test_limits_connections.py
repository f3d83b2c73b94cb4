"""Limits of connections, and of what on one does not come or is not taken."""

from __future__ import annotations

import asyncio
import resource
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from router_service.server import limits
from router_service.server.limits import Limits
from router_service.server.router_service import SERVICE
from router_service.v1 import router_service_pb2 as pb
from tests.server.identity.secured import EVERYBODY, As, bearer, secured
from tests.server.limited import (
    connected,
    refused,
    serves,
)
from tests.server.live import CATALOG, Live, serving, until


async def test_connections_beyond_the_limit_are_closed_and_those_there_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("router_service.server.connections.EVERY_S", 0.05)
    async with serving(tmp_path, limits=Limits(connections=3)) as live:
        await live.decide()

        async def there(count: int) -> bool:
            return live.registry.get_sample_value("router_connections") == count

        async with connected(live) as second, connected(live) as third:
            for router in (second, third):
                await router.Decide(pb.DecideRequest())
            await until(lambda: there(3))
            assert live.registry.get_sample_value("router_connections_max") == 3
            assert live.registry.get_sample_value("router_connections_of_one_address") == 3
            async with connected(live) as fourth:
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await fourth.Decide(pb.DecideRequest())
                assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            await serves(live)
        await until(lambda: there(1))
        async with connected(live) as again:
            await again.Decide(pb.DecideRequest())


async def test_a_message_that_does_not_come_is_waited_for_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call's headers come, and then nothing."""
    monkeypatch.setattr(limits, "STALLED_S", 0.4)
    async with serving(tmp_path) as live, grpc.aio.insecure_channel(live.target) as channel:
        stalled: Any = channel.stream_unary(f"/{SERVICE}/Decide")()
        idle: Any = live.router.DecideStream()
        await idle.write(pb.DecideStreamRequest(decide=pb.DecideRequest()))
        await idle.read()
        await refused(live, stalled, "stalled")
        # A stream may wait for its next item as long as it likes.
        await asyncio.sleep(0.8)
        await idle.write(pb.DecideStreamRequest(decide=pb.DecideRequest()))
        assert (await idle.read()).HasField("decision")


MANY = CATALOG.replace(
    "policies:",
    "".join(f"- {{endpoint_id: e{number}, model: m, provider: p, country: FR, sovereignty: eu-owned}}\n"
            for number in range(2000)) + "policies:",
)  # fmt: skip


@asynccontextmanager
async def unread(live: Live, method: str, message: Any) -> AsyncIterator[Any]:
    """A call of which nothing is read, so that the server can send no more than fits in HTTP/2's window."""
    options = [("grpc.http2.bdp_probe", 0), ("grpc.use_local_subchannel_pool", 1)]
    options.append(("grpc.max_receive_message_length", -1))
    async with grpc.aio.insecure_channel(live.target, options=options) as channel:
        call: Any = channel.unary_stream(f"/{SERVICE}/{method}")(message.SerializeToString())
        yield call
        call.cancel()


async def test_large_answers_that_wait_to_be_taken_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UNSENT_PER_CALLER", 200_000)
    async with serving(tmp_path, MANY) as live, unread(live, "Explain", pb.ExplainRequest()):

        async def sent() -> bool:
            return (live.registry.get_sample_value("router_unsent_bytes") or 0) > 200_000

        await until(sent)  # a single one may be as large as it is
        await serves(live)
        monkeypatch.setattr(limits, "UNSENT_BYTES", 200_000)
        await refused(live, live.router.Explain(pb.ExplainRequest()), "unsent_bytes")


@pytest.mark.parametrize("begins", [b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], ids=["nothing", "a preface alone"])
async def test_a_connection_that_does_not_finish_its_handshake_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begins: bytes
) -> None:
    monkeypatch.setattr(limits, "HANDSHAKE_S", 1)
    async with serving(tmp_path) as live:
        host, port = live.target.rsplit(":", 1)
        await closes(host, int(port), begins)
        await serves(live)


async def test_a_connection_that_does_not_finish_tls_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sends a part of its first message and waits."""
    monkeypatch.setattr(limits, "HANDSHAKE_S", 1)
    coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    hello = context.wrap_bio(coming, going, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        hello.do_handshake()
    begins = going.read()[:100]
    async with secured(tmp_path) as server:
        host, port = server.live.target.rsplit(":", 1)
        await asyncio.gather(*(closes(host, int(port), begins) for _ in range(20)))
        caller = As(await server.for_tokens(), bearer(EVERYBODY))
        await caller.method("Decide")(pb.DecideRequest(policy_id="policy-own"))


async def closes(host: str, port: int, begins: bytes) -> None:
    """The server closes a connection that only ever sends this."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(begins)
    async with asyncio.timeout(20):
        while await reader.read(4096):
            pass
    writer.close()


def test_the_limit_of_open_files_is_raised_as_far_as_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    state = [(1024, 4096)]

    def set_limit(_what: int, wanted: tuple[int, int]) -> None:
        state[0] = wanted

    monkeypatch.setattr(resource, "getrlimit", lambda _: state[0])
    monkeypatch.setattr(resource, "setrlimit", set_limit)
    assert limits.make_room_for(Limits(connections=2000)) == 2000
    assert state == [(2256, 4096)]
    state[0] = (1024, 1024)
    assert limits.make_room_for(Limits(connections=2000)) == 768
    assert limits.make_room_for(Limits(connections=2000), ports=2) == 768 - 2 * limits.PORT_CONNECTIONS
