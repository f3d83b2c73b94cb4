"""The messages that the command line shows, by name: it takes them from here, since only wire and server know v1."""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from router_service.v1.explanation_pb2 import EndpointExplanation, Explanation
from router_service.v1.route_pb2 import Candidate, Decision, Refusal, Terms
from router_service.v1.router_service_pb2 import DecideRequest, DecideResponse, ExplainRequest, ExplainResponse

__all__ = [
    "Candidate",
    "DecideRequest",
    "DecideResponse",
    "Decision",
    "EndpointExplanation",
    "ExplainRequest",
    "ExplainResponse",
    "Explanation",
    "Refusal",
    "Terms",
    "to_json",
]


def to_json(message: Message) -> dict[str, Any]:
    """Protobuf's JSON form with the names of the proto; what is absent is not there, and what is 0 or false is."""
    return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
