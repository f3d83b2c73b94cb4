"""Doors: every method that the service has, how it is called about somebody's thing, and what comes of it.

A method without a row fails the matrix, and so does a row that no method has. All is called by gRPC's synchronous API:
of a stream that the server ended early, the one for asyncio may tell that its own sending failed, and not why.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import grpc

from router_service.envoy.v1.access_log_pb2 import (
    LOG_TYPE_DOWNSTREAM_END,
    HttpLogEntries,
    HttpLogEntry,
    LogRequest,
    StreamAccessLogsMessage,
    StreamAccessLogsResponse,
)
from router_service.envoy.v1.authorization_pb2 import Attributes, CheckRequest, CheckResponse
from router_service.envoy.v1.processing_pb2 import HttpHeaders, ProcessingRequest, ProcessingResponse
from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.policy_pb2 import Policy
from router_service.v1.report_pb2 import Report
from router_service.v1.route_pb2 import RouteRequest
from tests.server.identity.conftest import Stubs
from tests.server.identity.secured import NOWHERE, OTHERS, OWN

Outcome = tuple[str, str]
"""A gRPC status code's name, and the reason; both of the call, or of its one item."""
OK: Outcome = ("OK", "")
UNAUTHENTICATED: Outcome = ("UNAUTHENTICATED", "UNAUTHENTICATED")
ROLE_MISSING: Outcome = ("PERMISSION_DENIED", "ROLE_MISSING")
# Whose thing a call is about: the caller's, somebody else's, one that there is not, or none by name.
MINE, SOMEBODYS, NOBODYS, UNNAMED = "own", "oth", "non", ""
WHOSE = (MINE, SOMEBODYS, NOBODYS, UNNAMED)
_POLICY = {MINE: OWN, SOMEBODYS: OTHERS, NOBODYS: NOWHERE, UNNAMED: ""}


@dataclass(frozen=True, slots=True)
class Things:
    """What there is to be asked for: traces by whose they are."""

    traces: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Door:
    """`call` calls the method as somebody; `outcomes` are those of a caller that has one of `roles`, by whose it is.

    What is not in `outcomes` is OK.
    """

    roles: tuple[str, ...]
    call: Callable[[Stubs, Things, str], Outcome]
    outcomes: Mapping[str, Outcome]


def not_found(what: str) -> dict[str, Outcome]:
    """Somebody else's is not found, just as what is not there."""
    return dict.fromkeys((SOMEBODYS, NOBODYS), ("NOT_FOUND", f"{what}_NOT_FOUND"))


def _unary(name: str, message: Callable[[Things, str], Any]) -> Callable[[Stubs, Things, str], Outcome]:
    def call(who: Stubs, things: Things, whose: str) -> Outcome:
        getattr(who, name)(message(things, whose))
        return OK

    return call


def _plain(name: str, message: Any) -> Callable[[Stubs, Things, str], Outcome]:
    return _unary(name, lambda _, __: message)


def _asked(_: Things, whose: str) -> pb.DecideRequest:
    return pb.DecideRequest(policy_id=_POLICY[whose], request=RouteRequest(input_tokens=10, output_tokens=10))


def _explained(_: Things, whose: str) -> pb.ExplainRequest:
    return pb.ExplainRequest(policy_id=_POLICY[whose], request=RouteRequest(input_tokens=10))


def _reported(things: Things, whose: str) -> Report:
    return Report(trace_id=things.traces[whose], outcome="cancelled")


def _reason_of(error: Any) -> Outcome:
    codes = {code.value[0]: code.name for code in grpc.StatusCode}
    reason = type(error).DESCRIPTOR.fields_by_name["reason"].enum_type.values_by_number[error.reason].name
    return codes[error.code], reason.removeprefix("ERROR_REASON_")


def _decide_stream(who: Stubs, things: Things, whose: str) -> Outcome:
    [answer] = who.DecideStream(iter([pb.DecideStreamRequest(decide=_asked(things, whose))]))
    return _reason_of(answer.error) if answer.HasField("error") else OK


def _report_stream(who: Stubs, things: Things, whose: str) -> Outcome:
    answer = who.ReportStream(iter([pb.ReportStreamRequest(report=_reported(things, whose))]))
    return _reason_of(answer.rejected[0].error) if answer.rejected else OK


def _check(who: Stubs, _: Things, whose: str) -> Outcome:
    said = {"clusters": "endpoint-own,endpoint-oth"} | ({"policy": _POLICY[whose]} if whose else {})
    message = CheckRequest(attributes=Attributes(context_extensions=said))
    return _denial(who.raw("/envoy.service.auth.v3.Authorization/Check", message, CheckResponse), "denied_response")


def _process(who: Stubs, _: Things, whose: str) -> Outcome:
    message, said = ProcessingRequest(request_headers=HttpHeaders()), [("x-router-context-policy", _POLICY[whose])]
    path = "/envoy.service.ext_proc.v3.ExternalProcessor/Process"
    answer = who.raw(path, message, ProcessingResponse, *(said if whose else []))
    return _denial(answer, "immediate_response")


def _denial(answer: Any, field: str) -> Outcome:
    """What Envoy's client is told: the call itself is well."""
    if not answer.HasField(field):
        return OK
    denied = getattr(answer, field)
    return str(denied.status.code), json.loads(denied.body)["error"]["code"]


def _stream_access_logs(who: Stubs, things: Things, whose: str) -> Outcome:
    ended = HttpLogEntry(request=LogRequest(request_id="r"))
    ended.common_properties.access_log_type = LOG_TYPE_DOWNSTREAM_END
    left = ended.common_properties.metadata.filter_metadata["envoy.filters.http.ext_authz"]
    left["trace_id"] = things.traces[whose]
    message = StreamAccessLogsMessage(http_logs=HttpLogEntries(log_entry=[ended]))
    path = "/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs"
    who.raw(path, message, StreamAccessLogsResponse)
    return OK


def _watch_catalog(who: Stubs, _: Things, __: str) -> Outcome:
    watching = who.WatchCatalog(catalog_pb.WatchCatalogRequest())
    next(watching)
    watching.cancel()
    return OK


def _status(_: Things, whose: str) -> catalog_pb.SetEndpointStatusRequest:
    return catalog_pb.SetEndpointStatusRequest(endpoint_id=f"endpoint-{whose}" if whose else "", status="up")


DOORS: dict[str, Door] = {
    "Decide": Door(("decide",), _unary("Decide", _asked), not_found("POLICY")),
    "DecideStream": Door(("decide",), _decide_stream, not_found("POLICY")),
    "Explain": Door(("decide", "read"), _unary("Explain", _explained), not_found("POLICY")),
    "Report": Door(
        ("report",),
        _unary("Report", lambda things, whose: pb.ReportRequest(report=_reported(things, whose))),
        not_found("TRACE"),
    ),
    "ReportStream": Door(("report",), _report_stream, not_found("TRACE")),
    "GetTrace": Door(
        ("read",),
        _unary("GetTrace", lambda things, whose: pb.GetTraceRequest(trace_id=things.traces[whose])),
        not_found("TRACE"),
    ),
    "ListTraces": Door(
        ("read",), _unary("ListTraces", lambda things, whose: pb.ListTracesRequest(policy_id=_POLICY[whose])), {}
    ),
    "ListEndpoints": Door(("read",), _plain("ListEndpoints", catalog_pb.ListEndpointsRequest()), {}),
    "ListPolicies": Door(("read",), _plain("ListPolicies", catalog_pb.ListPoliciesRequest()), {}),
    "ListWorkloads": Door(("read",), _plain("ListWorkloads", catalog_pb.ListWorkloadsRequest()), {}),
    "WatchCatalog": Door(("read",), _watch_catalog, {}),
    "SetEndpointStatus": Door(
        ("admin",),
        _unary("SetEndpointStatus", _status),
        {**not_found("ENDPOINT"), UNNAMED: ("INVALID_ARGUMENT", "INVALID_REQUEST")},
    ),
    "Reload": Door(("admin",), _plain("Reload", catalog_pb.ReloadRequest()), {}),
    "Check": Door(("decide",), _check, dict.fromkeys((SOMEBODYS, NOBODYS), ("404", "policy_not_found"))),
    "Process": Door(("decide",), _process, dict.fromkeys((SOMEBODYS, NOBODYS), ("404", "policy_not_found"))),
    # Envoy is not told what became of a report.
    "StreamAccessLogs": Door(("report",), _stream_access_logs, {}),
}
# What one method does beside its own row, by the message that it is called with.
BESIDE: dict[str, Door] = {
    "Explain of a trace": Door(
        ("read",),
        _unary("Explain", lambda things, whose: pb.ExplainRequest(trace_id=things.traces[whose])),
        not_found("TRACE"),
    ),
    "Decide under a workload": Door(
        ("decide",),
        _unary("Decide", lambda things, whose: pb.DecideRequest(workload=f"workload-{whose}" if whose else "")),
        not_found("WORKLOAD"),
    ),
    "Decide with an own policy": Door(
        ("decide",),
        _plain("Decide", pb.DecideRequest(inline=pb.Inline(policy=Policy(policy_id="mine")))),
        dict.fromkeys(WHOSE, ("PERMISSION_DENIED", "STATELESS_MODE_OFF")),
    ),
}
