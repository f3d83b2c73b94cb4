"""What tests of limits ask of a server in this process."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import grpc

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.route_pb2 import RouteRequest
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.server.in_process import failure
from tests.server.live import Live

EXHAUSTED, REACHED = grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_REACHED"
COUNTED = RouteRequest(input_tokens=600, output_tokens=400)


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
