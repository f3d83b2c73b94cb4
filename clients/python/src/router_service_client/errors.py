"""Why there is no answer: one exception a kind, made of the gRPC status that the service sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status


class FieldViolation(NamedTuple):
    """One field that makes no sense: its place in the message (`request.regions[2]`), what is wrong and its cure."""

    field: str
    description: str


class RouterError(Exception):
    """The request could not be answered.

    `code` is the gRPC status, `reason` the name in ErrorReason (`ERROR_REASON_POLICY_NOT_FOUND`; empty where the answer
    did not come from the service), `violations` every field that makes no sense.
    """

    def __init__(
        self, message: str, code: grpc.StatusCode, reason: str = "", violations: tuple[FieldViolation, ...] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.violations = violations


class RouterUnavailable(RouterError):
    """The service cannot be reached, has no catalogue yet, or is on its way out. The request may go nowhere.

    What asks for traces or reports is told so too where the service keeps none, or its store is lost for now.
    """


class RouterTimeout(RouterUnavailable):
    """The service did not answer in time."""


class InvalidRequest(RouterError):
    """The request makes no sense; `violations` names every bad field at once."""


class PolicyNotFound(RouterError):
    """The catalogue has no such policy, or it is not the caller's."""


class WorkloadNotFound(RouterError):
    """The catalogue has no such workload, or not in this version, or it is not the caller's."""


class EndpointNotListed(InvalidRequest):
    """A report names an endpoint that the decision did not list; nothing of the report was taken."""


class TraceNotFound(RouterError):
    """There is no such trace, it is no longer kept, or it is not the caller's."""


class PermissionDenied(RouterError):
    """The caller may not ask this; or the server was not started for requests that bring their own policy."""


class Unauthenticated(RouterError):
    """The service does not know the caller."""


class LimitExceeded(RouterError):
    """A limit of the service, or the size of an answer, was exceeded."""


_KINDS: dict[grpc.StatusCode, type[RouterError]] = {
    grpc.StatusCode.UNAVAILABLE: RouterUnavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: RouterTimeout,
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequest,
    grpc.StatusCode.NOT_FOUND: PolicyNotFound,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.RESOURCE_EXHAUSTED: LimitExceeded,
}
# What a code alone does not tell.
_REASONS: dict[str, type[RouterError]] = {
    "ERROR_REASON_ENDPOINT_NOT_LISTED": EndpointNotListed,
    "ERROR_REASON_TRACE_NOT_FOUND": TraceNotFound,
    "ERROR_REASON_WORKLOAD_NOT_FOUND": WorkloadNotFound,
}


@contextmanager
def router_errors() -> Iterator[None]:
    """Has what gRPC raises of a call, or of a channel that is closed, be raised as RouterError."""
    try:
        yield
    except grpc.RpcError as failure:
        raise error_of(failure) from failure
    except (grpc.aio.UsageError, ValueError) as failure:
        if "closed" not in str(failure):
            raise
        raise RouterError("the client is closed; make a new one", grpc.StatusCode.CANCELLED) from failure


def error_of(failure: grpc.RpcError) -> RouterError:
    """The exception of a failed call, of the sync or the asyncio API."""
    code: grpc.StatusCode = failure.code()
    status = _status(failure)
    info, bad = ErrorInfo(), BadRequest()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad)
    violations = tuple(FieldViolation(one.field, one.description) for one in bad.field_violations)
    message = failure.details() or code.name
    kind = _REASONS.get(info.reason) or _KINDS.get(code, RouterError)
    return kind(message, code, info.reason, violations)


def _status(failure: grpc.RpcError) -> Status:
    """The rich status; an empty one where the answer has none that can be read, as one from a proxy may."""
    try:
        return rpc_status.from_call(failure) or Status()
    except ValueError:
        return Status()
