"""Answers of the wire and of the reference in one form, in which they can be compared."""

from __future__ import annotations

from typing import Any

from router_service.v1.explanation_pb2 import Explanation
from router_service.v1.route_pb2 import Decision, Refusal, Terms
from router_service.v1.router_service_pb2 import DecideResponse

Json = dict[str, Any]
Result = Decision | Refusal
_COMMON = (
    "approximate",
    "considered",
    "effective_residency",
    "excluded",
    "pinned",
    "policy_id",
    "requested_model",
    "resolved_model",
    "retention",
)
_CANDIDATE = ("country", "endpoint_id", "model", "model_version", "need_ms", "provider", "region", "score")
_OPTIONAL = ("allowance_ms", "context_window", "estimated_cost", "max_output_tokens")
_TEXTS = ("country", "model_version", "provider", "region", "sovereignty")
_TERMS = ("task_fit", "language_fit", "documentation", "sovereignty", "price", "latency", "error_rate")


def result_of(answer: DecideResponse | Explanation) -> Result:
    """The decision or the refusal of an answer."""
    return answer.decision if answer.HasField("decision") else answer.refusal


def result_form(result: Result) -> Json:
    """What was answered, but for what the service adds to it: trace_id, version, HTTP status, time to wait."""
    common: Json = {name: getattr(result, name) for name in _COMMON}
    common |= {"reasons": dict(result.reasons), "steps": list(result.steps)}
    if isinstance(result, Refusal):
        refusal = common | {"code": result.code, "message": result.message, "transient": result.transient}
        return refusal | {"close_slugs": list(result.close_slugs)}
    candidates = []
    for one in result.candidates:
        form: Json = {name: getattr(one, name) for name in (*_CANDIDATE, "sovereignty")}
        form |= {name: getattr(one, name) if one.HasField(name) else None for name in _OPTIONAL}
        candidates.append(form | {"terms": _terms(one.terms)})
    return common | {"candidates": candidates, "sentence": result.sentence}


def explanation_form(explanation: Explanation) -> list[Json]:
    """Every endpoint of an explanation."""
    return [
        {
            "endpoint_id": one.endpoint_id,
            "rank": one.rank if one.HasField("rank") else None,
            "score": one.score if one.HasField("score") else None,
            "terms": _terms(one.terms) if one.HasField("terms") else None,
            "refused_by": [{"reason": by.reason, "detail": by.detail} for by in one.refused_by],
        }
        for one in explanation.endpoints
    ]


def expected_result(expected: Json) -> Json:
    """What the reference decides, in the same form."""
    (result,) = expected.values()
    if "code" in result:
        return {"close_slugs": [], **result}
    candidates = []
    for one in result["candidates"]:
        form = dict(one)
        form |= {name: one[name] or "" for name in _TEXTS}
        cost = form.pop("estimated_cost_e12")
        form["estimated_cost"] = None if cost is None else cost / 10**12
        form["score"] = form.pop("score_e9") / 10**9
        form["terms"] = _expected_terms(one["terms"])
        form["need_ms"] = min(one["need_ms"], 2**32 - 1)
        candidates.append(form)
    return {**result, "candidates": candidates}


def expected_endpoints(told: Json) -> list[Json]:
    """What the reference tells of every endpoint, in the same form."""
    endpoints = []
    for one in told["endpoints"]:
        form = dict(one)
        score = form.pop("score_e9")
        form["score"] = None if score is None else score / 10**9
        form["terms"] = None if one["terms"] is None else _expected_terms(one["terms"])
        endpoints.append(form)
    return endpoints


def _terms(terms: Terms) -> Json:
    told = {name: getattr(terms, name) for name in _TERMS}
    return {name: {"raw": term.raw, "weighted": term.weighted} for name, term in told.items()}


def _expected_terms(terms: Json) -> Json:
    return {name: {"raw": term["raw"], "weighted": term["weighted_e9"] / 10**9} for name, term in terms.items()}
