"""What a lost store keeps from being written at the end, and what callers learn of a lost store."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Report
from tests.server.conftest import ServerProcess
from tests.server.instance import until
from tests.server.test_drain import not_serving
from tests.store.redis_server import RedisServer

Serve = Callable[..., ServerProcess]


def test_traces_that_a_locked_file_did_not_take_are_told_by_their_number(serve: Serve, tmp_path: Path) -> None:
    server = serve("--store", f"sqlite:{tmp_path}/router.db", "--log-format", "json")
    server.router.Decide(pb.DecideRequest())
    with closing(sqlite3.connect(tmp_path / "router.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(20):
            server.router.Decide(pb.DecideRequest())
        [[before]] = other.execute("SELECT count(*) FROM trace")
        not_serving(server)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 0
        other.execute("ROLLBACK")
    found = server.wait_for(r'"lost":(\d+),"event":"the store did not take in time what was pending"')
    assert int(found[1]) == 21 - before


def test_callers_learn_that_the_store_is_lost_and_not_where_it_is(serve: Serve, redis: RedisServer) -> None:
    server = serve("--store", f"redis://:pass-word@127.0.0.1:{redis.port}/2", "--log-format", "json")
    redis.ask(b"CONFIG SET requirepass pass-word")
    router = server.router
    trace_id = router.Decide(pb.DecideRequest()).decision.trace_id

    def kept() -> bool:
        try:
            return router.GetTrace(pb.GetTraceRequest(trace_id=trace_id)).trace.trace_id == trace_id
        except grpc.RpcError:
            return False

    until(kept)
    redis.stop()
    calls: tuple[tuple[Any, Any], ...] = (
        (router.GetTrace, pb.GetTraceRequest(trace_id=trace_id)),
        (router.ListTraces, pb.ListTracesRequest()),
        (router.Explain, pb.ExplainRequest(trace_id=trace_id)),
        (router.Report, pb.ReportRequest(report=Report(trace_id=trace_id, outcome="cancelled"))),
    )
    for method, message in calls:
        with pytest.raises(grpc.RpcError) as caught:
            method(message)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        assert caught.value.details() == (
            "the store is lost for now: ask again in a moment; the server's log tells why"
        )
        told = f"{caught.value.trailing_metadata()}{caught.value}"
        assert str(redis.port) not in told.replace(server.target, "")
    lost = server.wait_for("store lost, decisions go on without it").string
    assert f"127.0.0.1:{redis.port}/2" in lost
    assert not any("pass-word" in line for line in server.lines)
