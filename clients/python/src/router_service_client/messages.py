"""Requests from keyword arguments, and what is read most often from answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, TypeVar

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from router_service_client.v1.explanation_pb2 import Explanation
from router_service_client.v1.report_pb2 import Attempt, Report
from router_service_client.v1.route_pb2 import Candidate, RouteRequest
from router_service_client.v1.router_service_pb2 import DecideRequest, DecideResponse, ExplainRequest

_Message = TypeVar("_Message", bound=Message)


class RouteFields(TypedDict, total=False):
    """The fields of RouteRequest, whose comments say what each means; None is "not given", as leaving it out is."""

    model: str | None
    task: str | None
    language: str | None
    residency: str | None
    regions: Sequence[str] | None
    input_tokens: int | None
    output_tokens: int | None
    expected_output_tokens: int | None
    modalities: Sequence[str] | None
    requires_tools: bool | None
    structured_output: str | None
    model_classes: Sequence[str] | None
    max_price: float | None
    max_cost: float | None
    deadline_ms: int | None
    exclude_endpoints: Sequence[str] | None
    max_attempts: int | None


class ReportFields(TypedDict, total=False):
    """The fields of Report, whose comments say what each means; None is "not given", as leaving it out is."""

    trace_id: str | None
    operation_id: str | None
    attempts: Sequence[Attempt] | None
    outcome: str | None


def route_request(request: RouteRequest | None, fields: RouteFields) -> RouteRequest:
    """A copy of the request with the given fields in the place of its own; TypeError for a name that is no field."""
    return _merged(RouteRequest, request, fields)


def report_message(report: Report | None, fields: ReportFields) -> Report:
    """A copy of the report with the given fields in the place of its own; TypeError for a name that is no field."""
    return _merged(Report, report, fields)


def _merged(kind: type[_Message], message: _Message | None, fields: Mapping[str, Any]) -> _Message:
    unknown = sorted(fields.keys() - kind.DESCRIPTOR.fields_by_name.keys())
    if unknown:
        known = ", ".join(kind.DESCRIPTOR.fields_by_name)
        text = f"{kind.DESCRIPTOR.name} has no field {', '.join(unknown)}; it has {known}"
        raise TypeError(text)
    merged = kind()
    if message is not None:
        if not isinstance(message, kind):
            text = f"give a {kind.DESCRIPTOR.name}, or its fields by name, not {type(message).__name__}"
            raise TypeError(text)
        merged.CopyFrom(message)
    given = {name: value for name, value in fields.items() if value is not None}
    for name in given:
        merged.ClearField(name)
    merged.MergeFrom(kind(**given))
    return merged


def decide_request(request: RouteRequest | None, fields: RouteFields, **others: Any) -> DecideRequest:
    """What Decide takes; `others` are its fields beside the request."""
    return DecideRequest(request=route_request(request, fields), **others)


def time_to_decide(message: DecideRequest, timeout: float) -> float:
    """Seconds that Decide may take: the client's own, or the request's deadline where that is shorter."""
    if not message.request.HasField("deadline_ms"):
        return timeout
    return min(timeout, max(0.001, message.request.deadline_ms / 1000))


def explain_request(request: RouteRequest | None, fields: RouteFields, **others: Any) -> ExplainRequest:
    """What Explain takes; a trace_id stands alone, unless a request is given for the service to refuse."""
    if others["trace_id"] and request is None and not fields:
        return ExplainRequest(**others)
    return ExplainRequest(request=route_request(request, fields), **others)


def timestamp(moment: datetime | None) -> Timestamp | None:
    """An instant as the wire has it; ValueError for one without a zone, which machines would read differently."""
    if moment is None:
        return None
    if moment.tzinfo is None:
        text = f"{moment} has no time zone; say datetime.now(UTC) or moment.astimezone()"
        raise ValueError(text)
    written = Timestamp()
    written.FromDatetime(moment)
    return written


def candidates(answer: DecideResponse | Explanation) -> list[Candidate]:
    """The failover list, best first; empty where the request is refused. Nothing outside it may be tried."""
    return list(answer.decision.candidates)
