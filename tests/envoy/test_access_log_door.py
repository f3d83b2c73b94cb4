"""The door of the access log by itself: what waits is reported in time and at the end, what is too much is counted."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest

from router_service.envoy.v1 import access_log_pb2 as log_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.envoy.log import PATIENCE_MS
from tests.envoy.doors import LOGS
from tests.envoy.entries import attempt, ended, message_of
from tests.server.live import Live, serving, trace_of, until


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    async with serving(tmp_path, envoy_authz=True) as server:
        yield server


async def tell(channel: grpc.aio.Channel, *entries: log_pb.HttpLogEntry) -> Any:
    """A stream that has told of these and stays open."""
    call: Any = channel.stream_unary(LOGS)()
    await call.write(message_of(*entries).SerializeToString())
    return call


async def reports(live: Live, trace_id: str) -> list[tuple[str, list[str]]]:
    """(outcome, endpoints of the attempts) of each report of a trace."""
    trace = (await live.router.GetTrace(pb.GetTraceRequest(trace_id=trace_id))).trace
    return [(one.outcome, [attempt.endpoint_id for attempt in one.attempts]) for one in trace.reports]


async def test_what_waits_for_long_is_reported_though_nothing_more_is_told(live: Live) -> None:
    trace_id = trace_of(await live.decide())
    async with grpc.aio.insecure_channel(live.target) as channel:
        stream = await tell(channel, attempt("r", "a", 503), ended("r", 2, trace_id, last="b", status=200))
        await asyncio.sleep(1.5)
        assert not await reports(live, trace_id)
        live.now += PATIENCE_MS
        assert await until(lambda: reports(live, trace_id)) == [("accepted", ["a", "b"])]
        stream.cancel()


async def test_what_waits_is_reported_when_the_server_ends(tmp_path: Path) -> None:
    async with serving(tmp_path, envoy_authz=True) as live:
        trace_id = trace_of(await live.decide())
        channel = await grpc.aio.insecure_channel(live.target).__aenter__()
        await tell(channel, ended("r", 1, trace_id, last="a", status=200))
        await asyncio.sleep(0.5)
    await channel.close()
    with closing(sqlite3.connect(tmp_path / "router.db")) as kept:
        assert kept.execute("SELECT trace_id, outcome FROM report").fetchall() == [(trace_id, "accepted")]


async def test_entries_beyond_a_limit_are_counted(live: Live) -> None:
    async with grpc.aio.insecure_channel(live.target) as channel:
        stream = await tell(channel, attempt("i" * 1_000, "a", 503), *(attempt("r", "a", 503) for _ in range(20)))

        async def counted() -> bool:
            found = [
                live.registry.get_sample_value("router_limited_total", {"limit": limit})
                for limit in ("text_length", "list_length")
            ]
            return found == [1, 4]

        assert await until(counted)
        stream.cancel()
