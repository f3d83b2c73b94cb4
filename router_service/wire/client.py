"""A client of a running server, for the command line's --server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from router_service.v1 import error_reason_pb2 as reason_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1 import router_service_pb2_grpc as pb_grpc
from router_service.wire.credentials import NO_CREDENTIALS, Credentials
from router_service.wire.messages import (
    DecideRequest,
    DecideResponse,
    ExplainRequest,
    ExplainResponse,
    ListTracesRequest,
    Trace,
)

# An explanation names every endpoint of the pool, so it may be far larger than gRPC's usual 4 MiB.
RECEIVE_MAX = 256 * 1024 * 1024
PAGE_MAX = 1000  # traces that a server gives at once

_NO_ANSWER = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
_NO_STORE = reason_pb.ErrorReason.Name(reason_pb.ERROR_REASON_NO_STORE)


class Unreachable(Exception):
    """Nobody answers at the address, or not in time."""


class Rejected(Exception):
    """The server answered that it cannot answer this, with every reason; one a line."""


class NotFound(Rejected):
    """There is no such thing as the one that was asked for."""


class Client:
    """One connection to one server; a context manager. `timeout_s` bounds every call."""

    def __init__(self, target: str, timeout_s: float, credentials: Credentials = NO_CREDENTIALS) -> None:
        """Raises Unprotected where a token would go over the network in plain."""
        self._target, self._timeout_s, self._metadata = target, timeout_s, credentials.metadata
        self._channel = credentials.channel(target, [("grpc.max_receive_message_length", RECEIVE_MAX)])
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

    def trace(self, trace_id: str) -> Trace:
        """A decision or refusal as it was made, with its reports. Raises Unreachable or Rejected."""
        answer: pb.GetTraceResponse = self._call(self._router.GetTrace, pb.GetTraceRequest(trace_id=trace_id))
        return answer.trace

    def traces(self, query: ListTracesRequest, most: int | None = None) -> Iterator[Trace]:
        """The traces that match, newest first and without their reports, page by page; at most `most` of them.

        Raises Unreachable or Rejected.
        """
        asked, left = ListTracesRequest(), most
        asked.CopyFrom(query)
        while left is None or left > 0:
            asked.page_size = PAGE_MAX if left is None else min(left, PAGE_MAX)
            page: pb.ListTracesResponse = self._call(self._router.ListTraces, asked)
            yield from page.traces
            left = None if left is None else left - len(page.traces)
            asked.page_token = page.next_page_token
            if not page.next_page_token:
                return

    def is_serving(self, service: str) -> bool:
        """Whether the health service says SERVING of `service`. Raises Unreachable, or Rejected of an unknown one."""
        answer = self._call(self._health.Check, health_pb2.HealthCheckRequest(service=service))
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    def _call(self, method: Any, request: Message) -> Any:
        try:
            return method(request, timeout=self._timeout_s, metadata=self._metadata)
        except grpc.RpcError as error:
            reason, told = _told(error)
            # A server without a store answers well: asking again, or another address, does not help.
            if error.code() in _NO_ANSWER and reason != _NO_STORE:
                raise Unreachable(f"{self._target}: {error.details()}") from None
            raise (NotFound if error.code() is grpc.StatusCode.NOT_FOUND else Rejected)(told) from None


def _told(error: grpc.RpcError) -> tuple[str, str]:
    """The reason that the status carries, and what it says, with a line for every bad field."""
    status = rpc_status.from_call(error)
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details if status else ():
        detail.Unpack(info)
        detail.Unpack(bad)
    lines = [f"{one.field}: {one.description}" if one.field else one.description for one in bad.field_violations]
    return info.reason, "\n".join(lines) or f"{error.code().name}: {error.details()}"
