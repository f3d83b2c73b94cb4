"""Requests that cannot be answered, as gRPC statuses: a table of kinds, each with its code and its reason."""

from __future__ import annotations

import grpc
from google.protobuf.any_pb2 import Any
from google.rpc import code_pb2, error_details_pb2, status_pb2

from router_service import asks
from router_service.domain.problems import Problem
from router_service.v1 import error_reason_pb2 as reason_pb

DOMAIN = "router_service.v1"

_KINDS: dict[type[Exception], tuple[grpc.StatusCode, reason_pb.ErrorReason]] = {
    asks.InvalidRequest: (grpc.StatusCode.INVALID_ARGUMENT, reason_pb.ERROR_REASON_INVALID_REQUEST),
    asks.NoDefaultPolicy: (grpc.StatusCode.INVALID_ARGUMENT, reason_pb.ERROR_REASON_NO_DEFAULT_POLICY),
    asks.PolicyNotFound: (grpc.StatusCode.NOT_FOUND, reason_pb.ERROR_REASON_POLICY_NOT_FOUND),
    asks.StatelessModeOff: (grpc.StatusCode.PERMISSION_DENIED, reason_pb.ERROR_REASON_STATELESS_MODE_OFF),
    asks.CatalogNotLoaded: (grpc.StatusCode.UNAVAILABLE, reason_pb.ERROR_REASON_CATALOG_NOT_LOADED),
    asks.TraceNotFound: (grpc.StatusCode.NOT_FOUND, reason_pb.ERROR_REASON_TRACE_NOT_FOUND),
    asks.EndpointNotListed: (grpc.StatusCode.INVALID_ARGUMENT, reason_pb.ERROR_REASON_ENDPOINT_NOT_LISTED),
    asks.StoreUnavailable: (grpc.StatusCode.UNAVAILABLE, reason_pb.ERROR_REASON_STORE_LOST),
    asks.NoStore: (grpc.StatusCode.UNAVAILABLE, reason_pb.ERROR_REASON_NO_STORE),
}


def kind_of(error: asks.Unanswerable) -> tuple[grpc.StatusCode, reason_pb.ErrorReason]:
    """The status code and the reason of an error."""
    return _KINDS[type(error)]


def status_of(error: asks.Unanswerable) -> status_pb2.Status:
    """The rich status: ErrorInfo with the reason, and BadRequest with every bad field."""
    code, reason = kind_of(error)
    details = [
        _any(error_details_pb2.ErrorInfo(reason=reason_pb.ErrorReason.Name(reason), domain=DOMAIN)),
    ]
    problems = _problems_of(error)
    if problems:
        violations = [
            error_details_pb2.BadRequest.FieldViolation(
                field=problem.field, description=f"{problem.message}; {problem.cure}"
            )
            for problem in problems
        ]
        details.append(_any(error_details_pb2.BadRequest(field_violations=violations)))
    return status_pb2.Status(code=code_pb2.Code.Value(code.name), message=str(error), details=details)


def item_error(error: asks.Unanswerable) -> reason_pb.ItemError:
    """The same error for one item of a stream."""
    code, reason = kind_of(error)
    return reason_pb.ItemError(
        code=code_pb2.Code.Value(code.name),
        message=str(error),
        reason=reason,
        violations=[
            reason_pb.FieldViolation(field=problem.field, description=f"{problem.message}; {problem.cure}")
            for problem in _problems_of(error)
        ],
    )


def _problems_of(error: asks.Unanswerable) -> tuple[Problem, ...]:
    """The bad fields, of the kinds that name some."""
    return error.problems if isinstance(error, asks.InvalidRequest | asks.EndpointNotListed) else ()


def _any(message: error_details_pb2.ErrorInfo | error_details_pb2.BadRequest) -> Any:
    packed = Any()
    packed.Pack(message)
    return packed
