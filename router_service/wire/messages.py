"""The messages that the command line shows, by name: it takes them from here, since only wire and server know v1."""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from router_service.v1.explanation_pb2 import EndpointExplanation, Explanation, Figure
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import Candidate, Decision, Refusal, RouteRequest, Terms
from router_service.v1.router_service_pb2 import (
    DecideRequest,
    DecideResponse,
    ExplainRequest,
    ExplainResponse,
    ListTracesRequest,
)
from router_service.v1.trace_pb2 import Trace

__all__ = [
    "Attempt",
    "Candidate",
    "DecideRequest",
    "DecideResponse",
    "Decision",
    "EndpointExplanation",
    "ExplainRequest",
    "ExplainResponse",
    "Explanation",
    "Figure",
    "ListTracesRequest",
    "Refusal",
    "Report",
    "RouteRequest",
    "Terms",
    "Timestamp",
    "Trace",
    "given",
    "to_json",
]


def to_json(message: Message) -> dict[str, Any]:
    """Protobuf's JSON form with the names and the order of the proto; what is absent is not there, 0 and false are."""
    written = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    return _in_order(written, message.DESCRIPTOR)


def _in_order(written: dict[str, Any], kind: Any) -> dict[str, Any]:
    ordered = {}
    for field in kind.fields:
        if field.name in written:
            value, inner = written[field.name], field.message_type
            own = inner is not None and inner.file.package == kind.file.package and not inner.GetOptions().map_entry
            if own and isinstance(value, list):
                value = [_in_order(one, inner) for one in value]
            ordered[field.name] = _in_order(value, inner) if own and isinstance(value, dict) else value
    return ordered


def given(message: Message) -> dict[str, Any]:
    """The fields that a message really has, by name, in the order of the proto."""
    return {field.name: value for field, value in message.ListFields()}
