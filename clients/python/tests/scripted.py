"""A service on the wire that answers as a vector says, and a clock and chance that stand still until they are told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc

from router_service_client import Candidate, Report
from router_service_client.v1.router_service_pb2 import DecideRequest, DecideResponse, ReportRequest, ReportResponse
from router_service_client.v1.router_service_pb2_grpc import RouterServiceServicer, add_RouterServiceServicer_to_server

CONFORMANCE = Path(__file__).parents[2] / "conformance"
TRACE_ID = "0" * 32
Case = dict[str, Any]


def vectors(name: str) -> Case:
    """A file of vectors."""
    document: Case = json.loads((CONFORMANCE / name).read_text("utf-8"))
    return document


@dataclass
class World:
    """Time in whole milliseconds since the run began, and the random numbers that are left."""

    draws: list[float]
    start: datetime
    gone_ms: int = 0
    steps: list[Case] = field(default_factory=list)

    def clock(self) -> float:
        return 1000.0 + self.gone_ms / 1000

    def now(self) -> datetime:
        return self.start + timedelta(milliseconds=self.gone_ms)

    def random(self) -> float:
        return self.draws.pop(0)

    def wait(self, seconds: float) -> None:
        self.steps.append({"wait_ms": round(seconds * 1000)})
        self.gone_ms += round(seconds * 1000)


class ScriptedService(RouterServiceServicer):
    """Answers Decide by `case`, and keeps the reports. `answers` are the statuses of the next reports."""

    def __init__(self) -> None:
        self.case: Case = {}
        self.world = World([], datetime.now(UTC))
        self.reports: list[Report] = []
        self.answers: list[grpc.StatusCode] = []
        self.asked: list[DecideRequest] = []

    def Decide(self, request: DecideRequest, context: grpc.ServicerContext) -> DecideResponse:  # noqa: N802
        self.asked.append(request)
        self.world.gone_ms += self.case.get("takes_ms", 0)
        if "error" in self.case:
            context.abort(grpc.StatusCode[self.case["error"]], "as the vector says")
        answer = DecideResponse()
        if told := self.case.get("refusal"):
            answer.refusal.code, answer.refusal.http_status = told["code"], told["http_status"]
            answer.refusal.retry_after.FromMilliseconds(told["retry_after_ms"])
        else:
            answer.decision.trace_id = TRACE_ID
            answer.decision.candidates.extend(Candidate(**one) for one in self.case["candidates"])
        return answer

    def Report(self, request: ReportRequest, context: grpc.ServicerContext) -> ReportResponse:  # noqa: N802
        code = self.answers.pop(0) if self.answers else grpc.StatusCode.OK
        if code is not grpc.StatusCode.OK:
            context.abort(code, "as the test says")
        self.reports.append(request.report)
        return ReportResponse()


@contextmanager
def scripted_service() -> Iterator[tuple[ScriptedService, str]]:
    """The service on a port of its own, and its address."""
    server = grpc.server(ThreadPoolExecutor(2))
    service = ScriptedService()
    add_RouterServiceServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield service, f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()
