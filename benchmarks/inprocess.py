"""From a request's bytes to its answer's without transport, store or log: what servers' answers are checked by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.callers import write_callers
from benchmarks.catalogues import catalogue
from router_service.asks import Answer, Ask
from router_service.callers.load import load
from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.domain.caller import LOCAL
from router_service.domain.policy import Policy
from router_service.engine.decide import decide
from router_service.router import Router
from router_service.server.app import wall_clock
from router_service.server.envoy.authorization import AuthorizationDoor
from router_service.server.identity.access import Access, Known, Open
from router_service.server.log import make_logger
from router_service.server.metrics import Metrics
from router_service.server.router_service import RouterServicer
from router_service.server.rpc import Calls
from router_service.server.told import Told
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.answer import decide_response
from router_service.wire.read import AskReader


class InProcess:
    """The engine over the catalogue of `size` endpoints, read from the same file as a server's."""

    def __init__(self, size: int, folder: Path) -> None:
        self.snapshot: Snapshot = catalogue(size).snapshot(folder, wall_clock())

    def ask(self, message: bytes) -> Ask:
        """The request of a message's bytes, read as if it were the first."""
        return AskReader().read(pb.DecideRequest.FromString(message))

    def policy(self, ask: Ask) -> Policy:
        """The policy that the request names, or the default one."""
        return self.snapshot.policies[ask.policy_id or self.snapshot.content.default_policy]

    def answer(self, message: bytes) -> bytes:
        """The answer's bytes to a request's."""
        ask, now = self.ask(message), wall_clock()
        result = decide(self.snapshot.index, self.policy(ask), ask.request, now)
        request_id = pb.DecideRequest.FromString(message).request_id
        return decide_response(Answer(result, "", self.snapshot.version, now), request_id)


def comparable(message: bytes) -> pb.DecideResponse:
    """The answer without what two answers to one request differ in: its own id, and what a clock has a part in."""
    answer = pb.DecideResponse.FromString(message)
    if answer.HasField("decision"):
        answer.decision.trace_id = ""
    else:
        answer.refusal.trace_id = ""
        answer.refusal.ClearField("retry_after")
    return answer


class _Context:
    """What a call's handler asks of gRPC."""

    def __init__(self, authorization: str) -> None:
        self._metadata = (("user-agent", "benchmark"), *((("authorization", authorization),) if authorization else ()))

    def peer(self) -> str:
        return "ipv4:127.0.0.1:40000"

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return self._metadata


def door(snapshot: Snapshot, log_level: str = "error", callers: Path | None = None) -> Callable[[bytes], bytes]:
    """What the service does in a call of Decide, from the request's bytes to the answer's, without gRPC and store.

    With a folder for `callers` the call shows a token that one of them has.
    """
    served, metrics, log = Served(), Metrics(), make_logger(log_level, "json")
    served.install(snapshot)
    access: Access = Open(LOCAL)
    authorization = ""
    if callers is not None:
        authorization = write_callers(callers, snapshot.policies)
        access = Known(load(callers).callers, wall_clock, lambda _: None)
    context = _Context(authorization)
    servicer = RouterServicer(Router(served, wall_clock), Calls(metrics, log, access), Told(metrics, log))
    return _called(servicer.handlers()["Decide"], context)


def envoy_door(snapshot: Snapshot) -> Callable[[bytes], bytes]:
    """The same for a check of Envoy's external authorisation."""
    served, metrics, log = Served(), Metrics(), make_logger("error", "json")
    served.install(snapshot)
    calls = Calls(metrics, log, Open(LOCAL))
    doors = AuthorizationDoor(Router(served, wall_clock), calls, Told(metrics, log), log)
    return _called(doors.handlers()["Check"], _Context(""))


def _called(handler: Any, context: _Context) -> Callable[[bytes], bytes]:
    """A method as a function of bytes."""

    def call(message: bytes) -> bytes:
        try:
            handler.unary_unary(message, context).send(None)
        except StopIteration as answered:
            answer: bytes = answered.value
            return answer
        raise RuntimeError("a call without a store has nothing to wait for")

    return call
