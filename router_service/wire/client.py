"""A client of a running server, for the command line's --server."""

from __future__ import annotations

from typing import Any, Self

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from router_service.v1 import router_service_pb2_grpc as pb_grpc
from router_service.wire.messages import DecideRequest, DecideResponse, ExplainRequest, ExplainResponse

# An explanation names every endpoint of the pool, so it may be far larger than gRPC's usual 4 MiB.
RECEIVE_MAX = 256 * 1024 * 1024


class Unreachable(Exception):
    """Nobody answers at the address, or not in time."""


class Rejected(Exception):
    """The server answered that it cannot answer this, with every reason; one a line."""


class Client:
    """One connection to one server; a context manager. `timeout_s` bounds every call."""

    def __init__(self, target: str, timeout_s: float) -> None:
        self._target, self._timeout_s = target, timeout_s
        self._channel = grpc.insecure_channel(target, options=[("grpc.max_receive_message_length", RECEIVE_MAX)])
        self._router = pb_grpc.RouterServiceStub(self._channel)
        self._health = health_pb2_grpc.HealthStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def decide(self, request: DecideRequest) -> DecideResponse:
        """Raises Unreachable or Rejected."""
        answer: DecideResponse = self._call(self._router.Decide, request)
        return answer

    def explain(self, request: ExplainRequest) -> ExplainResponse:
        """Raises Unreachable or Rejected."""
        answer: ExplainResponse = self._call(self._router.Explain, request)
        return answer

    def is_serving(self, service: str) -> bool:
        """Whether the health service says SERVING of `service`. Raises Unreachable, or Rejected of an unknown one."""
        answer = self._call(self._health.Check, health_pb2.HealthCheckRequest(service=service))
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    def _call(self, method: Any, request: Message) -> Any:
        try:
            return method(request, timeout=self._timeout_s)
        except grpc.RpcError as error:
            code = error.code()
            if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise Unreachable(f"{self._target}: {error.details()}") from None
            raise Rejected(_told(error)) from None


def _told(error: grpc.RpcError) -> str:
    """What the status says, with a line for every bad field."""
    status = rpc_status.from_call(error)
    lines = []
    for detail in status.details if status else ():
        bad = error_details_pb2.BadRequest()
        if detail.Unpack(bad):
            lines += [f"{violation.field}: {violation.description}" for violation in bad.field_violations]
    return "\n".join(lines) or f"{error.code().name}: {error.details()}"
