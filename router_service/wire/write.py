"""Values become messages: absent stays absent, and every number is the double nearest to the exact one inside."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from router_service.catalog.snapshot import Snapshot
from router_service.domain.decision import (
    TERMS,
    Candidate,
    Decision,
    EndpointExplanation,
    Refusal,
    Score,
    Verdict,
)
from router_service.domain.endpoint import Endpoint
from router_service.domain.money import COST_UNIT, nearest_double
from router_service.domain.policy import Policy
from router_service.router import Answer, Explained
from router_service.v1 import catalog_service_pb2, endpoint_pb2, explanation_pb2, policy_pb2, route_pb2
from router_service.v1 import router_service_pb2 as pb

SCORE_UNIT = 10**9
UINT32_MAX = 2**32 - 1
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


def decide_response(answer: Answer, request_id: str) -> pb.DecideResponse:
    """The answer of Decide."""
    if isinstance(answer.result, Decision):
        decision = write_decision(answer.result, answer.trace_id, answer.catalog_version)
        return pb.DecideResponse(request_id=request_id, decision=decision)
    refusal = write_refusal(answer.result, answer.trace_id, answer.catalog_version, answer.now)
    return pb.DecideResponse(request_id=request_id, refusal=refusal)


def explain_response(explained: Explained, request_id: str) -> pb.ExplainResponse:
    """The answer of Explain."""
    explanation = explanation_pb2.Explanation(
        endpoints=[_endpoint_explanation(one) for one in explained.explanation.endpoints]
    )
    result = explained.explanation.result
    if isinstance(result, Decision):
        explanation.decision.CopyFrom(write_decision(result, "", explained.catalog_version))
    else:
        explanation.refusal.CopyFrom(write_refusal(result, "", explained.catalog_version, explained.now))
    return pb.ExplainResponse(request_id=request_id, explanation=explanation)


def write_decision(decision: Decision, trace_id: str, catalog_version: str) -> route_pb2.Decision:
    """A decision as a message."""
    message = route_pb2.Decision(
        trace_id=trace_id,
        catalog_version=catalog_version,
        candidates=[_candidate(candidate) for candidate in decision.candidates],
        sentence=decision.sentence,
    )
    _write_verdict(message, decision)
    return message


def write_refusal(refusal: Refusal, trace_id: str, catalog_version: str, now: int) -> route_pb2.Refusal:
    """A refusal as a message; `now` is the instant (ms) that its retry_after counts from."""
    message = route_pb2.Refusal(
        trace_id=trace_id,
        catalog_version=catalog_version,
        code=refusal.code,
        message=refusal.message,
        http_status=refusal.http_status,
        transient=refusal.transient,
        close_slugs=refusal.close_slugs,
    )
    if refusal.retry_at is not None:
        message.retry_after.CopyFrom(_duration(refusal.retry_at - now))
    _write_verdict(message, refusal)
    return message


def _write_verdict(message: route_pb2.Decision | route_pb2.Refusal, verdict: Verdict) -> None:
    """What decisions and refusals share, by the same names."""
    message.policy_id = verdict.policy_id
    message.requested_model = verdict.requested_model
    message.resolved_model = verdict.resolved_model
    message.steps.extend(verdict.steps)
    message.approximate = verdict.approximate
    message.pinned = verdict.pinned
    message.effective_residency = verdict.effective_residency
    message.retention = verdict.retention
    message.considered = verdict.considered
    message.excluded = verdict.excluded
    message.reasons.update(verdict.reasons)


def _candidate(candidate: Candidate) -> route_pb2.Candidate:
    return route_pb2.Candidate(
        endpoint_id=candidate.endpoint_id,
        model=candidate.model,
        model_version=candidate.model_version,
        provider=candidate.provider,
        region=candidate.region,
        country=candidate.country,
        sovereignty=candidate.sovereignty,
        score=nearest_double(candidate.score.total, SCORE_UNIT),
        terms=_terms(candidate.score),
        estimated_cost=_cost(candidate.estimated_cost),
        need_ms=min(candidate.need_ms, UINT32_MAX),
        allowance_ms=candidate.allowance_ms,
        context_window=candidate.context_window,
        max_output_tokens=candidate.max_output_tokens,
    )


def _terms(score: Score) -> route_pb2.Terms:
    return route_pb2.Terms(
        **{
            name: route_pb2.Term(raw=term.raw, weighted=nearest_double(term.weighted, SCORE_UNIT))
            for name, term in zip(TERMS, score.terms, strict=True)
        }
    )


def _endpoint_explanation(one: EndpointExplanation) -> explanation_pb2.EndpointExplanation:
    return explanation_pb2.EndpointExplanation(
        endpoint_id=one.endpoint_id,
        model=one.model,
        provider=one.provider,
        region=one.region,
        country=one.country,
        sovereignty=one.sovereignty,
        refused_by=[explanation_pb2.Exclusion(reason=by.reason, detail=by.detail) for by in one.refused_by],
        matches=[
            explanation_pb2.Match(list_name=match.list_name, entry=match.entry, name=match.name)
            for match in one.matches
        ],
        rank=one.rank,
        score=None if one.score is None else nearest_double(one.score.total, SCORE_UNIT),
        terms=None if one.score is None else _terms(one.score),
        attempt=one.attempt,
        estimated_cost=_cost(one.estimated_cost),
        need_ms=min(one.need_ms, UINT32_MAX),
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
        retires_at=_timestamp(endpoint.retires_at),
        suppressed_until=_timestamp(endpoint.suppressed_until),
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
    )


def watch_response(snapshot: Snapshot) -> catalog_service_pb2.WatchCatalogResponse:
    """A version of the catalogue that serves."""
    return catalog_service_pb2.WatchCatalogResponse(
        catalog_version=snapshot.version,
        loaded_at=_timestamp(snapshot.loaded_at),
        endpoints=snapshot.index.size,
        policies=len(snapshot.policies),
        default_policy=snapshot.content.default_policy,
        currency=snapshot.content.currency,
    )


def _price(millionths: int | None) -> float | None:
    return None if millionths is None else nearest_double(millionths)


def _cost(cost: int | None) -> float | None:
    return None if cost is None else nearest_double(cost, COST_UNIT)


def _timestamp(instant: int | None) -> Timestamp | None:
    return None if instant is None else Timestamp(seconds=instant // 1000, nanos=instant % 1000 * 1_000_000)


def _duration(milliseconds: int) -> Duration:
    return Duration(seconds=milliseconds // 1000, nanos=milliseconds % 1000 * 1_000_000)
