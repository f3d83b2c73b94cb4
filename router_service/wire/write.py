"""Values become messages: absent stays absent, and every number is the double nearest to the exact one inside."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from router_service import sight
from router_service.asks import Explained
from router_service.catalog.snapshot import Snapshot
from router_service.domain.caller import Caller
from router_service.domain.decision import Decision, EndpointExplanation
from router_service.domain.endpoint import Endpoint
from router_service.domain.money import nearest_double
from router_service.domain.overlay import Figure
from router_service.domain.policy import Policy
from router_service.domain.workload import Joined, Workload
from router_service.v1 import catalog_service_pb2, endpoint_pb2, explanation_pb2, policy_pb2, route_pb2, workload_pb2
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.answer import SCORE_UNIT, UINT32_MAX, framed, result_form, tag_of, write_cost, write_terms

_AT_ONCE = 8  # endpoints of an explanation written in one go
_DECISION = tag_of(explanation_pb2.Explanation, "decision")
_REFUSAL = tag_of(explanation_pb2.Explanation, "refusal")
_ENDPOINTS = tag_of(explanation_pb2.Explanation, "endpoints")
_EXPLANATION = tag_of(pb.ExplainResponse, "explanation")
_DOUBLES = frozenset(("max_price", "max_cost"))


def write_request(raw: Mapping[str, Any]) -> route_pb2.RouteRequest:
    """A request as a message, of raw fields that RouteRequest.read accepts."""
    message = route_pb2.RouteRequest()
    for name, value in raw.items():
        if isinstance(value, list | tuple):
            getattr(message, name).extend(value)
        elif isinstance(value, Decimal):
            setattr(message, name, float(value) if name in _DOUBLES else int(value))
        else:
            setattr(message, name, value)
    return message


def explain_form(explained: Explained, request_id: str) -> Generator[None, None, bytes]:
    """The bytes of an ExplainResponse, bit by bit: a generator that returns them, with room between for other work."""
    result = explained.explanation.result
    kind = _DECISION if isinstance(result, Decision) else _REFUSAL
    parts = [framed(kind, result_form(result, explained.trace_id, explained.catalog_version, explained.now))]
    for number, one in enumerate(explained.explanation.endpoints):
        message = _endpoint_explanation(one, explained.figures.get(one.endpoint.endpoint_id, ()))
        parts.append(framed(_ENDPOINTS, message.SerializeToString()))
        if number % _AT_ONCE == 0:
            yield
    if explained.joined is not None:
        parts.append(_joined(explained.joined).SerializeToString())
    if explained.hidden:
        parts.append(explanation_pb2.Explanation(hidden_endpoints=explained.hidden).SerializeToString())
    return pb.ExplainResponse(request_id=request_id).SerializeToString() + framed(_EXPLANATION, b"".join(parts))


def _joined(joined: Joined) -> explanation_pb2.Explanation:
    """What an explanation says of a workload."""
    origins = (explanation_pb2.Origin(field=one.field, source=one.source, value=one.value) for one in joined.origins)
    return explanation_pb2.Explanation(workload=joined.label, origins=origins)


def _endpoint_explanation(one: EndpointExplanation, figures: Sequence[Figure]) -> explanation_pb2.EndpointExplanation:
    return explanation_pb2.EndpointExplanation(
        endpoint_id=one.endpoint.endpoint_id,
        model=one.endpoint.model,
        provider=one.endpoint.provider,
        region=one.endpoint.region,
        country=one.endpoint.country,
        sovereignty=one.endpoint.sovereignty,
        refused_by=[explanation_pb2.Exclusion(reason=by.reason, detail=by.detail) for by in one.refused_by],
        matches=[
            explanation_pb2.Match(list_name=match.list_name, entry=match.entry, name=match.name)
            for match in one.matches
        ],
        rank=one.rank,
        score=None if one.score is None else nearest_double(one.score.total, SCORE_UNIT),
        terms=None if one.score is None else write_terms(one.score),
        attempt=one.attempt,
        estimated_cost=write_cost(one.estimated_cost),
        need_ms=min(one.need_ms, UINT32_MAX),
        figures=[
            explanation_pb2.Figure(name=figure.name, used=figure.used, recorded=figure.recorded, source=figure.source)
            for figure in figures
        ],
    )


def write_endpoint(endpoint: Endpoint) -> endpoint_pb2.Endpoint:
    """An endpoint as a message."""
    return endpoint_pb2.Endpoint(
        endpoint_id=endpoint.endpoint_id,
        model=endpoint.model,
        aliases=endpoint.aliases,
        vendor=endpoint.vendor,
        model_version=endpoint.model_version,
        provider=endpoint.provider,
        region=endpoint.region,
        country=endpoint.country,
        sovereignty=endpoint.sovereignty,
        kind=endpoint.kind,
        status=endpoint.status,
        retires_at=write_timestamp(endpoint.retires_at),
        suppressed_until=write_timestamp(endpoint.suppressed_until),
        model_type=endpoint.model_type,
        input_modalities=endpoint.input_modalities,
        context_window=endpoint.context_window,
        max_output_tokens=endpoint.max_output_tokens,
        input_price=_price(endpoint.input_price),
        output_price=_price(endpoint.output_price),
        parameters_b=endpoint.parameters_b,
        tags=endpoint.tags,
        model_classes=endpoint.model_classes,
        strong_languages=endpoint.strong_languages,
        tools=endpoint.tools,
        structured_output=endpoint.structured_output,
        latency_ms=endpoint.latency_ms,
        tokens_per_second=None if endpoint.tokens_per_second is None else float(endpoint.tokens_per_second),
        error_rate=endpoint.error_rate,
        address=endpoint.address,
        upstream_model=endpoint.upstream_model,
    )


def write_policy(policy: Policy) -> policy_pb2.Policy:
    """A policy as a message."""
    return policy_pb2.Policy(
        policy_id=policy.policy_id,
        residency=policy.residency,
        regions=policy.regions,
        provider_allow=policy.provider_allow,
        provider_deny=policy.provider_deny,
        model_allow=policy.model_allow,
        model_deny=policy.model_deny,
        partner_endpoints=policy.partner_endpoints,
        max_price=_price(policy.max_price),
        exact_models=policy.exact_models,
        retention=policy.retention,
        data_classes=policy.data_classes,
        require_data_class=policy.require_data_class,
        daily_budget=_price(policy.daily_budget),
        default_reservation=_price(policy.default_reservation) if policy.default_reservation else None,
        time_zone=policy.time_zone,
        budget_fail_open=policy.budget_fail_open,
    )


def write_workload(workload: Workload) -> workload_pb2.Workload:
    """A workload as a message; what it does not state is not in it."""
    needs = workload.needs.values
    raw = {name: nearest_double(value) if name in _DOUBLES else value for name, value in needs.items()}
    return workload_pb2.Workload(
        name=workload.name, version=workload.version, request=write_request(raw), schema_id=workload.schema_id
    )


def watch_response(caller: Caller, snapshot: Snapshot, seen: int) -> catalog_service_pb2.WatchCatalogResponse:
    """A version of the catalogue that serves, as the caller sees it, with so many endpoints."""
    return catalog_service_pb2.WatchCatalogResponse(
        catalog_version=snapshot.version,
        loaded_at=write_timestamp(snapshot.loaded_at),
        endpoints=seen,
        policies=len(sight.policies(caller, snapshot)),
        default_policy=sight.default_policy(caller, snapshot),
        currency=snapshot.content.currency,
    )


def _price(millionths: int | None) -> float | None:
    return None if millionths is None else nearest_double(millionths)


def write_timestamp(instant: int | None) -> Timestamp | None:
    """An instant (ms) as a message; None stays absent."""
    return None if instant is None else Timestamp(seconds=instant // 1000, nanos=instant % 1000 * 1_000_000)
