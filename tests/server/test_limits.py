"""Limits: what is beyond one is refused with a reason and counted, and everybody else is served."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from router_service.server import limits
from router_service.server.limits import Limits
from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Report
from router_service.v1.route_pb2 import RouteRequest
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.callers.files import entry
from tests.server.identity.secured import EVERYBODY, As, bearer, callers, secured
from tests.server.in_process import failure
from tests.server.limited import (
    COUNTED,
    EXHAUSTED,
    REACHED,
    asking,
    connected,
    limited,
    refused,
    serves,
    slow_store,
)
from tests.server.live import Live, serving, until


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    async with serving(tmp_path) as server:
        yield server


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
