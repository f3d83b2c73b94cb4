"""What a client behind Envoy is told where its request goes nowhere: a status, and an error as OpenAI shapes it."""

from __future__ import annotations

from collections.abc import Iterable

import grpc
import msgspec

from router_service import asks
from router_service.domain.decision import Refusal
from router_service.domain.problems import Problem
from router_service.v1 import error_reason_pb2 as reason_pb
from router_service.wire.errors import kind_of

INVALID_REQUEST, NOT_ALLOWED, MISCONFIGURED = "invalid_request", "not_allowed", "route_misconfigured"
_UNAVAILABLE = 503
# OpenAI's types, by the status.
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    409: "invalid_request_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
_SERVER_ERROR = "server_error"
_STATUSES = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.FAILED_PRECONDITION: 409,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.UNAVAILABLE: _UNAVAILABLE,
}
_TRANSIENT = frozenset((429, _UNAVAILABLE))


class Denial(msgspec.Struct, frozen=True):
    """The end of a request: its status, the body's error, and whether the same request may succeed later."""

    status: int
    code: str
    message: str
    param: str | None = None
    transient: bool = False

    @property
    def body(self) -> bytes:
        """The error as JSON, in the shape that OpenAI's SDKs read."""
        error = {"message": self.message, "type": type_of(self.status), "param": self.param, "code": self.code}
        return msgspec.json.encode({"error": error})


def type_of(status: int) -> str:
    """OpenAI's type of the errors with a status."""
    return _TYPES.get(status, _SERVER_ERROR)


class RouteMisconfigured(Exception):
    """What the operator wrote for the route makes no sense; every problem, each by its place."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))


class NotAllowed(Exception):
    """A client names what its route does not let clients name; every problem, each by its header."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))


Deniable = (asks.Unanswerable, RouteMisconfigured, NotAllowed)


def denial_of_error(error: Exception) -> Denial:
    """What a client is told of one of `Deniable`."""
    if isinstance(error, RouteMisconfigured):
        message = f"The proxy's route is misconfigured: {error}"
        return Denial(500, MISCONFIGURED, message)
    if isinstance(error, NotAllowed):
        return Denial(403, NOT_ALLOWED, str(error), error.problems[0].field)
    if isinstance(error, asks.InvalidRequest):
        return Denial(400, INVALID_REQUEST, str(error), error.problems[0].field)
    if not isinstance(error, asks.Unanswerable):
        raise TypeError(type(error).__name__)
    code, reason = kind_of(error)
    status, name = _STATUSES.get(code, 500), reason_pb.ErrorReason.Name(reason).removeprefix("ERROR_REASON_").lower()
    return Denial(status, name, str(error), transient=status in _TRANSIENT)


def denial_of_refusal(refusal: Refusal, *, narrowed: bool = False) -> Denial:
    """What a client is told of a refusal.

    `narrowed` is whether the proxy lacks some of the catalogue's endpoints: where that alone leaves nothing, it is the
    proxy's lack, and not the request's.
    """
    status = _UNAVAILABLE if narrowed and refusal.code == "all_candidates_excluded" else refusal.http_status
    param = "model" if refusal.code in ("model_not_found", "not_a_text_model", "model_denied") else None
    return Denial(status, refusal.code, refusal.message, param, refusal.transient or status == _UNAVAILABLE)
