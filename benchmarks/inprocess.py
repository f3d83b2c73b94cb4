"""The service's own path from a request's bytes to its answer's, without the transport: what answers are checked by."""

from __future__ import annotations

from pathlib import Path

from benchmarks.catalogues import catalogue
from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.asks import Answer, Ask
from router_service.router import Router
from router_service.server.app import wall_clock
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.answer import decide_response
from router_service.wire.read import AskReader


class InProcess:
    """A router over the catalogue of `size` endpoints, read from the same file as a server's."""

    def __init__(self, size: int, folder: Path) -> None:
        self.snapshot: Snapshot = catalogue(size).snapshot(folder, wall_clock())
        served = Served()
        served.install(self.snapshot)
        self._router = Router(served, wall_clock)

    def ask(self, message: bytes) -> Ask:
        """The request of a message's bytes, read as if it were the first."""
        return AskReader().read(pb.DecideRequest.FromString(message))

    def decide(self, ask: Ask) -> Answer:
        """The decision."""
        return self._router.decide(ask)

    def answer(self, message: bytes) -> bytes:
        """The answer's bytes to a request's."""
        ask = self.ask(message)
        return decide_response(self._router.decide(ask), pb.DecideRequest.FromString(message).request_id)


def comparable(message: bytes) -> pb.DecideResponse:
    """The answer without what two answers to one request differ in: its own id, and what a clock has a part in."""
    answer = pb.DecideResponse.FromString(message)
    if answer.HasField("decision"):
        answer.decision.trace_id = ""
    else:
        answer.refusal.trace_id = ""
        answer.refusal.ClearField("retry_after")
    return answer
