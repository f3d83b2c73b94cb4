"""Limits: what is beyond one is refused with a reason and counted, and everybody else is served."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import ssl
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from router_service.server import app, limits
from router_service.server.limits import Limits
from router_service.server.router_service import SERVICE
from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Report
from router_service.v1.route_pb2 import RouteRequest
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.callers.files import entry
from tests.server.identity.secured import EVERYBODY, As, bearer, callers, secured
from tests.server.in_process import failure
from tests.server.live import CATALOG, Live, serving, until

EXHAUSTED, REACHED = grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_REACHED"
COUNTED = RouteRequest(input_tokens=600, output_tokens=400)


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    async with serving(tmp_path) as server:
        yield server


async def serves(live: Live) -> None:
    """It answers others as ever."""
    assert (await live.decide()).HasField("decision")


def limited(live: Live, limit: str) -> float:
    """How much was refused because of a limit."""
    return live.registry.get_sample_value("router_limited_total", {"limit": limit}) or 0


async def refused(live: Live, call: Awaitable[Any], limit: str) -> None:
    """The call is refused because of this limit, which is counted once."""
    before = limited(live, limit)
    code, reason, _ = await failure(call)
    assert (code, reason) == (EXHAUSTED, REACHED)
    assert limited(live, limit) == before + 1


@asynccontextmanager
async def connected(live: Live) -> AsyncIterator[RouterServiceStub]:
    """Over a connection of its own, so as another caller."""
    async with grpc.aio.insecure_channel(live.target, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        yield RouterServiceStub(channel)


@asynccontextmanager
async def slow_store(folder: Path) -> AsyncIterator[None]:
    """Somebody else holds the store's file for a while, so that decisions on a budget wait."""
    with closing(sqlite3.connect(folder / "router.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")


def asking(size: int) -> pb.DecideRequest:
    """A request of about so many bytes."""
    return pb.DecideRequest(request=RouteRequest(exclude_endpoints=[f"{number:0100}" for number in range(size // 103)]))


async def test_a_message_that_is_too_large(live: Live) -> None:
    await live.router.Decide(asking(limits.ASKING_BYTES - 200))
    await refused(live, live.router.Decide(asking(limits.ASKING_BYTES + 500)), "message_size")
    with pytest.raises(grpc.aio.AioRpcError) as caught:  # far beyond it gRPC does not even read it
        await live.router.Decide(asking(10 * limits.ASKING_BYTES))
    assert caught.value.code() is EXHAUSTED
    text = "x" * limits.MESSAGE_BYTES
    await refused(live, live.router.Report(pb.ReportRequest(report=Report(operation_id=text))), "message_size")
    await serves(live)


async def test_a_stream_with_a_message_that_is_too_large_ends(live: Live) -> None:
    sizes = (100, limits.ASKING_BYTES + 500, 100)
    items = [pb.DecideStreamRequest(decide=asking(size)) for size in sizes]
    stream = live.router.DecideStream(iter(items))
    assert (await stream.read()).HasField("decision")
    code, reason, _ = await failure(stream.read())
    assert (code, reason) == (EXHAUSTED, REACHED)
    assert limited(live, "message_size") == 1


async def test_a_stateless_server_takes_larger_messages(tmp_path: Path) -> None:
    async with serving(tmp_path, stateless=True) as live:
        large = RouteRequest(exclude_endpoints=[f"{number:0250}" for number in range(500)])
        assert large.ByteSize() > limits.ASKING_BYTES
        await live.router.Decide(pb.DecideRequest(request=large))


async def test_metadata_that_is_too_large(live: Live) -> None:
    fits, too_much = (("x", "y" * (size - 200)) for size in (limits.METADATA_BYTES, limits.METADATA_BYTES + 400))
    many = tuple((f"k{number}", "v" * 50) for number in range(limits.METADATA_BYTES // 50))
    await live.router.Decide(pb.DecideRequest(), metadata=(fits,))
    await refused(live, live.router.Decide(pb.DecideRequest(), metadata=(too_much,)), "metadata_size")
    await refused(live, live.router.Decide(pb.DecideRequest(), metadata=many), "metadata_size")
    await refused(live, live.router.DecideStream(iter(()), metadata=(too_much,)).read(), "metadata_size")
    watch = live.catalog.WatchCatalog(catalog_pb.WatchCatalogRequest(), metadata=(too_much,))
    await refused(live, watch.read(), "metadata_size")
    with pytest.raises(grpc.aio.AioRpcError) as caught:  # far beyond it gRPC does not even look for the method
        await live.router.Decide(pb.DecideRequest(), metadata=(("x", "y" * 2 * limits.METADATA_MAX),))
    assert caught.value.code() is EXHAUSTED
    await serves(live)


@pytest.mark.parametrize(
    ("field", "limit"),
    [({"model": "m" * 257}, "text_length"), ({"regions": ["r"] * 1025}, "list_length")],
)
async def test_values_beyond_a_limit_are_counted(live: Live, field: dict[str, Any], limit: str) -> None:
    message = pb.DecideRequest(request=RouteRequest(**field))
    code, _, fields = await failure(live.router.Decide(message))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert list(fields) == [f"request.{next(iter(field))}"]
    assert limited(live, limit) == 1
    [item] = [one async for one in live.router.DecideStream(iter([pb.DecideStreamRequest(decide=message)]))]
    assert item.HasField("error")
    assert limited(live, limit) == 2


async def test_pages_and_candidates_beyond_a_limit_are_counted(tmp_path: Path) -> None:
    async with serving(tmp_path, stateless=True) as live:
        await failure(live.catalog.ListEndpoints(catalog_pb.ListEndpointsRequest(page_size=1001)))
        await failure(live.router.ListTraces(pb.ListTracesRequest(page_size=1001)))
        assert limited(live, "page_size") == 2
        inline = pb.Inline()
        for _ in range(1001):
            inline.candidates.add(endpoint_id="e")
        await failure(live.router.Decide(pb.DecideRequest(inline=inline)))
        assert limited(live, "candidates") == 1


async def test_every_limit_has_a_row_from_the_start(live: Live) -> None:
    assert {limit: limited(live, limit) for limit in limits.LIMITS} == dict.fromkeys(limits.LIMITS, 0)


async def waiting(live: Live, router: RouterServiceStub, count: int) -> list[asyncio.Task[Any]]:
    """Decisions that wait for the store."""
    message = pb.DecideRequest(policy_id="daily", request=COUNTED)
    before = live.registry.get_sample_value("router_calls_under_way") or 0
    calls = [asyncio.ensure_future(router.Decide(message)) for _ in range(count)]

    async def begun() -> bool:
        return live.registry.get_sample_value("router_calls_under_way") == before + count

    await until(begun)
    return calls


async def test_calls_in_all(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=Limits(calls=2)) as live, connected(live) as other:
        await live.decide("daily", input_tokens=600, output_tokens=400)
        async with slow_store(tmp_path):
            held = await waiting(live, live.router, 2)
            await refused(live, other.Decide(pb.DecideRequest()), "calls")
            channel = grpc.aio.insecure_channel(live.target)
            async with channel:  # whoever asks for its health learns that it is well
                health = health_pb2_grpc.HealthStub(channel)
                status = (await health.Check(health_pb2.HealthCheckRequest())).status
            assert status == health_pb2.HealthCheckResponse.SERVING
        await asyncio.gather(*held)
        assert (await other.Decide(pb.DecideRequest())).HasField("decision")


async def test_calls_of_one_caller_leave_the_others_alone(tmp_path: Path) -> None:
    async with serving(tmp_path, limits=Limits(calls_per_caller=2)) as live, connected(live) as other:
        await live.decide("daily", input_tokens=600, output_tokens=400)
        async with slow_store(tmp_path):
            held = await waiting(live, live.router, 2)
            third = pb.DecideRequest(policy_id="daily", request=COUNTED)
            late = asyncio.ensure_future(refused(live, live.router.Decide(third), "calls_per_caller"))
            assert (await other.Decide(pb.DecideRequest())).HasField("decision")
            await late
        await asyncio.gather(*held)
        await serves(live)


async def test_streams_in_all_and_of_one_caller(tmp_path: Path) -> None:
    few = Limits(streams=3, streams_per_caller=2)
    async with serving(tmp_path, limits=few) as live, connected(live) as second, connected(live) as third:
        item = pb.DecideStreamRequest(decide=pb.DecideRequest())

        async def opened(router: RouterServiceStub) -> Any:
            stream = router.DecideStream()
            await stream.write(item)
            assert (await stream.read()).HasField("decision")
            return stream

        mine = [await opened(live.router), await opened(live.router)]
        await refused(live, live.router.DecideStream(iter([item])).read(), "streams_per_caller")
        await opened(second)
        await refused(live, third.DecideStream(iter([item])).read(), "streams")
        await serves(live)
        await mine[0].done_writing()
        assert await mine[0].read() is grpc.aio.EOF
        await until(lambda: closed(live, 2))
        await opened(third)


async def closed(live: Live, left: int) -> bool:
    return live.registry.get_sample_value("router_streams_open") == left


async def test_callers_are_told_apart_by_who_they_are_and_not_by_connections(tmp_path: Path) -> None:
    two = callers() + entry("second")
    two = two.replace("tokens:\n", "- {caller: second, roles: [decide], policies: ['*']}\ntokens:\n")
    async with secured(tmp_path, two, limits=Limits(streams_per_caller=1)) as server:
        item = pb.DecideStreamRequest(decide=pb.DecideRequest(policy_id="policy-own"))
        stubs = [As(await server.for_tokens(), bearer(EVERYBODY)), As(await server.for_tokens(), bearer("second"))]
        streams = []
        for one in stubs:
            stream = one.router.DecideStream(metadata=one.metadata)
            await stream.write(item)
            assert (await stream.read()).HasField("decision")
            streams.append(stream)
        again = stubs[0].router.DecideStream(iter([item]), metadata=stubs[0].metadata)
        await refused(server.live, again.read(), "streams_per_caller")


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
    monkeypatch.setattr(app, "STALLED_S", 0.4)
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
