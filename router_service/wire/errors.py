"""Requests that cannot be answered, as gRPC statuses: a table of kinds, each with its code and its reason."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
from google.protobuf.any_pb2 import Any
from google.rpc import code_pb2, error_details_pb2, status_pb2

from router_service import asks
from router_service.domain.problems import Problem
from router_service.v1 import error_reason_pb2 as reason_pb

DOMAIN = "router_service.v1"
# Clients refuse a status of more than 8 KiB, and their callers would not learn what is wrong. The message stands in it
# twice, once in base 64 and once with three bytes for each that is not ASCII; the violations once, in base 64.
_MESSAGE_BYTES, _VIOLATIONS_BYTES = 700, 3000

_KINDS: dict[type[Exception], tuple[grpc.StatusCode, reason_pb.ErrorReason]] = {
    asks.InvalidRequest: (grpc.StatusCode.INVALID_ARGUMENT, reason_pb.ERROR_REASON_INVALID_REQUEST),
    asks.NoDefaultPolicy: (grpc.StatusCode.INVALID_ARGUMENT, reason_pb.ERROR_REASON_NO_DEFAULT_POLICY),
    asks.PolicyNotFound: (grpc.StatusCode.NOT_FOUND, reason_pb.ERROR_REASON_POLICY_NOT_FOUND),
    asks.WorkloadNotFound: (grpc.StatusCode.NOT_FOUND, reason_pb.ERROR_REASON_WORKLOAD_NOT_FOUND),
    asks.StatelessModeOff: (grpc.StatusCode.PERMISSION_DENIED, reason_pb.ERROR_REASON_STATELESS_MODE_OFF),
    asks.CatalogNotLoaded: (grpc.StatusCode.UNAVAILABLE, reason_pb.ERROR_REASON_CATALOG_NOT_LOADED),
    asks.Draining: (grpc.StatusCode.UNAVAILABLE, reason_pb.ERROR_REASON_DRAINING),
    asks.LimitReached: (grpc.StatusCode.RESOURCE_EXHAUSTED, reason_pb.ERROR_REASON_LIMIT_REACHED),
    asks.EndpointNotFound: (grpc.StatusCode.NOT_FOUND, reason_pb.ERROR_REASON_ENDPOINT_NOT_FOUND),
    asks.Unauthenticated: (grpc.StatusCode.UNAUTHENTICATED, reason_pb.ERROR_REASON_UNAUTHENTICATED),
    asks.AuditUnavailable: (grpc.StatusCode.UNAVAILABLE, reason_pb.ERROR_REASON_AUDIT_UNAVAILABLE),
    asks.RoleMissing: (grpc.StatusCode.PERMISSION_DENIED, reason_pb.ERROR_REASON_ROLE_MISSING),
    asks.CatalogRejected: (grpc.StatusCode.FAILED_PRECONDITION, reason_pb.ERROR_REASON_CATALOG_INVALID),
    asks.LoadingFailed: (grpc.StatusCode.UNAVAILABLE, reason_pb.ERROR_REASON_CATALOG_INVALID),
    asks.TraceNotFound: (grpc.StatusCode.NOT_FOUND, reason_pb.ERROR_REASON_TRACE_NOT_FOUND),
    asks.CatalogNotKept: (grpc.StatusCode.NOT_FOUND, reason_pb.ERROR_REASON_TRACE_NOT_FOUND),
    asks.EndpointNotListed: (grpc.StatusCode.INVALID_ARGUMENT, reason_pb.ERROR_REASON_ENDPOINT_NOT_LISTED),
    asks.StoreUnavailable: (grpc.StatusCode.UNAVAILABLE, reason_pb.ERROR_REASON_STORE_LOST),
    asks.NoStore: (grpc.StatusCode.UNAVAILABLE, reason_pb.ERROR_REASON_NO_STORE),
}


def kind_of(error: asks.Unanswerable) -> tuple[grpc.StatusCode, reason_pb.ErrorReason]:
    """The status code and the reason of an error."""
    return _KINDS[type(error)]


def status_of(error: asks.Unanswerable) -> status_pb2.Status:
    """The rich status: ErrorInfo with the reason, and BadRequest with every bad field, as many as a status can hold."""
    code, reason = kind_of(error)
    details = [
        _any(error_details_pb2.ErrorInfo(reason=reason_pb.ErrorReason.Name(reason), domain=DOMAIN)),
    ]
    problems = _problems_of(error)
    if problems:
        details.append(_any(error_details_pb2.BadRequest(field_violations=_violations(problems))))
    message = _cut(str(error), _MESSAGE_BYTES)
    return status_pb2.Status(code=code_pb2.Code.Value(code.name), message=message, details=details)


def _violations(problems: Sequence[Problem]) -> list[error_details_pb2.BadRequest.FieldViolation]:
    """The bad fields, the first of them where they are too many, with the number of the others at the end."""
    named: list[error_details_pb2.BadRequest.FieldViolation] = []
    room = _VIOLATIONS_BYTES
    for problem in problems:
        violation = error_details_pb2.BadRequest.FieldViolation(field=problem.field, description=_told(problem))
        room -= violation.ByteSize()
        if room < 0:
            others = f"{len(problems) - len(named)} more problems, which do not fit in a status"
            return [*named, error_details_pb2.BadRequest.FieldViolation(description=others)]
        named.append(violation)
    return named


def item_error(error: asks.Unanswerable) -> reason_pb.ItemError:
    """The same error for one item of a stream."""
    code, reason = kind_of(error)
    return reason_pb.ItemError(
        code=code_pb2.Code.Value(code.name),
        message=str(error),
        reason=reason,
        violations=[
            reason_pb.FieldViolation(field=problem.field, description=_told(problem)) for problem in _problems_of(error)
        ],
    )


def _problems_of(error: asks.Unanswerable) -> tuple[Problem, ...]:
    """The bad fields, of the kinds that name some."""
    return error.problems if isinstance(error, asks.InvalidRequest | asks.EndpointNotListed) else ()


def _told(problem: Problem) -> str:
    return f"{problem.message}; {problem.cure}"


def _cut(text: str, most: int) -> str:
    """The text, of at most so many bytes and a mark where it was cut."""
    form = text.encode()
    return text if len(form) <= most else form[:most].decode(errors="ignore") + "…"


def _any(message: error_details_pb2.ErrorInfo | error_details_pb2.BadRequest) -> Any:
    packed = Any()
    packed.Pack(message)
    return packed
