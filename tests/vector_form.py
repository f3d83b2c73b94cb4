"""Between the engine and the JSON form of decision vectors: cases in, answers out."""

from __future__ import annotations

from typing import Any

from router_service.domain.decision import TERMS, Decision, Explanation, Refusal, Score
from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import Policy
from router_service.domain.request import RouteRequest
from router_service.engine.decide import decide
from router_service.engine.explain import explain
from router_service.engine.index import Index

Json = dict[str, Any]
_COMMON = (
    "approximate",
    "considered",
    "effective_residency",
    "excluded",
    "pinned",
    "policy_id",
    "reasons",
    "requested_model",
    "resolved_model",
)


def read_case(case: Json) -> tuple[Index, Policy, RouteRequest, int]:
    """What the engine takes, of a case in vector form."""
    index = Index(Endpoint.read(one) for one in case["catalog"])
    return index, Policy.read(case["policy"]), RouteRequest.read(case["request"]), case["now"]


def decided(case: Json) -> Json:
    """The engine's decision or refusal in vector form."""
    return result_form(decide(*read_case(case)))


def explained(case: Json) -> Json:
    """The engine's explanation in vector form."""
    return explanation_form(explain(*read_case(case)))


def result_form(result: Decision | Refusal) -> Json:
    """A decision or a refusal in vector form."""
    common: Json = {name: getattr(result, name) for name in _COMMON}
    common["retention"] = result.retention or None
    common["steps"] = sorted(result.steps)
    if isinstance(result, Decision):
        candidates = [
            {
                "allowance_ms": one.allowance_ms,
                "context_window": one.endpoint.context_window,
                "country": one.endpoint.country or None,
                "endpoint_id": one.endpoint_id,
                "estimated_cost_e12": one.estimated_cost,
                "max_output_tokens": one.endpoint.max_output_tokens,
                "model": one.endpoint.model,
                "model_version": one.endpoint.model_version,
                "need_ms": one.need_ms,
                "provider": one.endpoint.provider,
                "region": one.endpoint.region,
                "score_e9": one.score.total,
                "sovereignty": one.endpoint.sovereignty or None,
                "terms": _terms(one.score),
            }
            for one in result.candidates
        ]
        return {"decision": common | {"candidates": candidates, "sentence": result.sentence}}
    refusal = common | {"code": result.code, "message": result.message, "transient": result.transient}
    if result.code == "model_not_found":
        refusal["close_slugs"] = list(result.close_slugs)
    return {"refusal": refusal}


def explanation_form(explanation: Explanation) -> Json:
    """An explanation in vector form."""
    (result,) = result_form(explanation.result).values()
    refusal = result if isinstance(explanation.result, Refusal) else None
    told = {name: result[name] for name in _COMMON} | {"retention": result["retention"], "steps": result["steps"]}
    told |= {"refusal": refusal, "sentence": result.get("sentence")}
    told["endpoints"] = [
        {
            "endpoint_id": one.endpoint.endpoint_id,
            "rank": one.rank,
            "score_e9": one.score.total if one.score else None,
            "terms": _terms(one.score) if one.score else None,
            "refused_by": [{"reason": by.reason, "detail": by.detail} for by in one.refused_by],
        }
        for one in explanation.endpoints
    ]
    return told


def normal(answer: Json) -> Json:
    """An expected answer as the engine gives it: an absent text is an empty one."""
    if "decision" in answer:
        candidates = [one | {"model_version": one["model_version"] or ""} for one in answer["decision"]["candidates"]]
        return {"decision": answer["decision"] | {"candidates": candidates}}
    return answer


def _terms(score: Score) -> Json:
    return {
        name: {"raw": term.raw, "weighted_e9": term.weighted} for name, term in zip(TERMS, score.terms, strict=True)
    }
