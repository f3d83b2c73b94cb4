"""Calls whose message is to come: of strangers none is read, and who is slow keeps nobody from being answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from router_service.server import limits
from router_service.server.catalog_service import SERVICE as CATALOG_SERVICE
from router_service.server.limits import USUAL, Limits
from router_service.server.router_service import SERVICE
from router_service.v1 import router_service_pb2 as pb
from tests.callers.files import entry
from tests.server.identity.secured import EVERYBODY, As, bearer, callers, secured
from tests.server.in_process import failure
from tests.server.limited import EXHAUSTED, REACHED, connected, limited, refused, serves
from tests.server.live import Live, serving, until

METHODS = [
    *(f"/{SERVICE}/{name}" for name in ("Decide", "Explain", "Report", "GetTrace", "ListTraces")),
    *(f"/{CATALOG_SERVICE}/{name}" for name in ("ListEndpoints", "SetEndpointStatus", "Reload", "WatchCatalog")),
]
DECIDE = METHODS[0]
REREAD = {"files": "callers", "outcome": "installed"}


def silent(channel: grpc.aio.Channel, method: str = DECIDE, **more: Any) -> Any:
    """A call that sends no message."""
    return channel.stream_stream(method)(**more) if "Watch" in method else channel.stream_unary(method)(**more)


def ending(call: Any) -> Any:
    """What to wait for until a call has ended."""
    return call.read() if hasattr(call, "read") else call


def arriving(live: Live) -> float:
    return live.registry.get_sample_value("router_calls_arriving") or 0


@asynccontextmanager
async def held(live: Live, connections: int, calls: int) -> AsyncIterator[list[Any]]:
    """So many calls without a message on each of so many connections."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    channels = [grpc.aio.insecure_channel(live.target, options=options) for _ in range(connections)]
    try:
        yield [silent(channel) for channel in channels for _ in range(calls)]
    finally:
        for channel in channels:
            await channel.close()


@pytest.mark.parametrize("method", METHODS)
async def test_a_stranger_is_refused_before_its_message_comes(tmp_path: Path, method: str) -> None:
    async with secured(tmp_path) as server, asyncio.timeout(10):
        code, reason, _ = await failure(ending(silent(await server.for_tokens(), method)))
        assert (code, reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
        labels = {"method": method.rpartition("/")[2], "code": "UNAUTHENTICATED"}
        assert server.live.registry.get_sample_value("router_rpc_duration_seconds_count", labels) == 1
        assert arriving(server.live) == 0


@pytest.mark.parametrize("method", [*METHODS, "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"])
async def test_a_call_that_ends_without_a_message_is_told_so(tmp_path: Path, method: str) -> None:
    async with serving(tmp_path) as live, grpc.aio.insecure_channel(live.target) as channel, asyncio.timeout(10):
        call = silent(channel, method)
        await call.done_writing()
        code, reason, fields = await failure(ending(call))
        assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
        assert fields == {"": "the call brought no message; send the one that the method takes, then end your side"}
        assert arriving(live) == 0


async def test_who_is_slow_gives_way_where_others_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All places are taken, by connections that are callers of their own, and many more calls wait for one."""
    monkeypatch.setattr(limits, "ARRIVING_BYTES", 0)  # the fewest places that there may be
    async with serving(tmp_path) as live, held(live, 8, 10), connected(live) as other:

        async def taken() -> bool:
            return arriving(live) >= 40

        await until(taken)
        for _ in range(5):
            assert (await other.Decide(pb.DecideRequest(), timeout=5)).HasField("decision")
        assert limited(live, "calls_arriving") > 0


async def test_one_caller_takes_half_of_the_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ARRIVING_BYTES", 0)
    monkeypatch.setattr("router_service.server.waiting.TICK_S", 60)  # nobody gives way
    two = callers() + entry("second")
    two = two.replace("tokens:\n", "- {caller: second, roles: [decide], policies: ['*']}\ntokens:\n")
    async with secured(tmp_path, two) as server:
        channel = await server.for_tokens()
        calls = [silent(channel, metadata=bearer(EVERYBODY)) for _ in range(20)]

        async def waiting() -> bool:
            return arriving(server.live) == 20

        await until(waiting)
        second = As(channel, bearer("second"))
        for _ in range(5):
            await second.method("Decide")(pb.DecideRequest(policy_id="policy-own"), timeout=5)
        for call in calls:
            call.cancel()

        async def gone() -> bool:
            return arriving(server.live) == 0

        await until(gone)
        await As(channel, bearer(EVERYBODY)).method("Decide")(pb.DecideRequest(policy_id="policy-own"), timeout=5)


async def test_of_too_many_that_wait_the_last_of_who_has_most_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ARRIVING_BYTES", 0)
    monkeypatch.setattr(limits, "ARRIVING_QUEUE", 6)
    async with serving(tmp_path) as live, held(live, 1, 20) as calls, connected(live) as other:
        async with asyncio.timeout(10):
            code, reason, _ = await failure(calls[-1])
        assert (code, reason) == (EXHAUSTED, REACHED)

        async def others() -> bool:
            return limited(live, "calls_arriving") >= 20 - 2 - 6

        await until(others)
        assert (await other.Decide(pb.DecideRequest(), timeout=5)).HasField("decision")


async def test_a_burst_of_whole_calls_is_answered_though_places_are_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ARRIVING_BYTES", 0)
    async with serving(tmp_path) as live, connected(live) as other:
        both = (live.router, other) * 90  # no more than a connection may have: what is beyond gRPC refuses at times
        answers = await asyncio.gather(*(router.Decide(pb.DecideRequest()) for router in both))
        assert all(answer.HasField("decision") for answer in answers)
        assert limited(live, "calls_arriving") == 0


async def test_a_right_that_ends_while_the_message_comes_is_no_right(tmp_path: Path) -> None:
    async with secured(tmp_path) as server:
        call = silent(await server.for_tokens(), metadata=bearer("decide"))

        async def waiting() -> bool:
            return arriving(server.live) == 1

        await until(waiting)
        (tmp_path / "callers.yaml").write_text(callers().replace(entry("decide"), ""))
        server.live._app.reload()

        async def read_again() -> bool:
            return server.live.registry.get_sample_value("router_identity_loads_total", REREAD) == 2

        await until(read_again)
        async with asyncio.timeout(10):
            await call.write(pb.DecideRequest(policy_id="policy-own").SerializeToString())
            await call.done_writing()
            code, reason, _ = await failure(call)
        assert (code, reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")


async def test_a_stateless_server_has_fewer_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "STATELESS_STREAMS", 4)
    async with serving(tmp_path, stateless=True) as live:
        streams = [live.router.DecideStream() for _ in range(2)]
        for stream in streams:
            await stream.write(pb.DecideStreamRequest(decide=pb.DecideRequest()))
            assert (await stream.read()).HasField("decision")
        await refused(live, live.router.DecideStream(iter(())).read(), "streams_per_caller")
        await serves(live)


def test_streams_of_a_stateless_server_are_as_many_as_the_operator_says() -> None:
    assert limits.streams(USUAL, stateless=False) == (USUAL.streams, USUAL.streams_per_caller)
    assert limits.streams(USUAL, stateless=True) == (limits.STATELESS_STREAMS, limits.STATELESS_STREAMS // 2)
    assert limits.streams(Limits(streams=500), stateless=True) == (500, 250)


@pytest.mark.parametrize("largest", [limits.ASKING_BYTES, limits.LOG_BYTES, limits.STATELESS_BYTES])
def test_grpcs_own_limit_of_calls_is_never_what_bites(largest: int) -> None:
    places = sum(limits.arriving(largest, held) for held in (limits.ARRIVING_BYTES, limits.ARRIVING_BESIDE_BYTES))
    others = USUAL.calls + USUAL.streams + limits.ARRIVING_QUEUE + limits.WATCHES + limits.HELD_BACK
    assert limits.rpcs_at_once(USUAL, largest) > 1.5 * (places + others)


async def test_a_message_that_comes_late_is_answered(tmp_path: Path) -> None:
    """Longer than who it is from is known for, and less than it is waited for."""
    async with serving(tmp_path) as live, grpc.aio.insecure_channel(live.target) as channel:
        call, begun = silent(channel), time.monotonic()
        await asyncio.sleep(1.2)
        await call.write(pb.DecideRequest().SerializeToString())
        await call.done_writing()
        assert pb.DecideResponse.FromString(await call).HasField("decision")
        assert time.monotonic() - begun < 10
