"""Requests from keyword arguments, and what is read most often from answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from router_service_client.v1.explanation_pb2 import Explanation
from router_service_client.v1.route_pb2 import Candidate, RouteRequest
from router_service_client.v1.router_service_pb2 import DecideRequest, DecideResponse, ExplainRequest, Inline


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


def route_request(request: RouteRequest | None, fields: RouteFields) -> RouteRequest:
    """A copy of the request with the given fields in the place of its own; TypeError for a name that is no field."""
    values: dict[str, Any] = dict(fields)
    unknown = sorted(values.keys() - RouteRequest.DESCRIPTOR.fields_by_name.keys())
    if unknown:
        known = ", ".join(RouteRequest.DESCRIPTOR.fields_by_name)
        message = f"RouteRequest has no field {', '.join(unknown)}; it has {known}"
        raise TypeError(message)
    merged = RouteRequest()
    if request is not None:
        merged.CopyFrom(request)
    given = {name: value for name, value in values.items() if value is not None}
    for name in given:
        merged.ClearField(name)
    merged.MergeFrom(RouteRequest(**given))
    return merged


def decide_request(
    request: RouteRequest | None, policy_id: str, request_id: str, inline: Inline | None, fields: RouteFields
) -> DecideRequest:
    """What Decide takes."""
    route = route_request(request, fields)
    return DecideRequest(request_id=request_id, policy_id=policy_id, request=route, inline=inline)


def explain_request(
    request: RouteRequest | None, policy_id: str, request_id: str, inline: Inline | None, fields: RouteFields
) -> ExplainRequest:
    """What Explain takes."""
    route = route_request(request, fields)
    return ExplainRequest(request_id=request_id, policy_id=policy_id, request=route, inline=inline)


def candidates(answer: DecideResponse | Explanation) -> list[Candidate]:
    """The failover list, best first; empty where the request is refused. Nothing outside it may be tried."""
    return list(answer.decision.candidates)
