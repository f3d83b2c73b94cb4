"""The routing decision as plain loops: decide(case) and explain(case), in the vectors' form."""

from collections import Counter
from typing import NamedTuple

from . import sentences
from .case import Endpoint, JsonDict, read_endpoint, read_policy, read_request
from .close_slugs import close_slugs
from .context import Context, make_context
from .costs import cost_e12
from .model_id import POOL_NAMES, UNRESOLVED, Names, Resolution, read_names, resolve
from .ranking import Ranked, rank
from .refusals import Refusal, refusal_of_pool
from .rules import Refused, refusals_of
from .text import trim
from .time_budget import need_ms, within_budget


class _Evaluation(NamedTuple):
    """What decide and explain both tell: the same filter, ranking and counts."""

    endpoints: list[Endpoint]
    names: Names
    context: Context
    pinned: bool
    resolution: Resolution
    pool: list[Endpoint]
    refused: list[list[Refused]]
    ranking: list[Ranked]


def decide(case: JsonDict) -> JsonDict:
    """{"decision": …} or {"refusal": …} of a case {catalog, policy, request, now}."""
    return _decide(_evaluate(case))


def explain(case: JsonDict) -> JsonDict:
    """Every endpoint of the pool, ranked or with all that refuses it, around the same answer."""
    return _explain(_evaluate(case))


def answer(case: JsonDict) -> JsonDict:
    """Both, under a vector's own keys, from one evaluation: {"expected": …, "explain": …}."""
    evaluation = _evaluate(case)
    return {"expected": _decide(evaluation), "explain": _explain(evaluation)}


def _decide(evaluation: _Evaluation) -> JsonDict:
    if evaluation.ranking:
        return {"decision": _decision(evaluation)}
    return {"refusal": _refusal(evaluation)}


def _explain(evaluation: _Evaluation) -> JsonDict:
    told = [
        {
            "endpoint_id": ranked.endpoint.endpoint_id,
            "rank": place,
            "refused_by": [],
            "score_e9": ranked.score,
            "terms": ranked.terms,
        }
        for place, ranked in enumerate(evaluation.ranking, start=1)
    ]
    excluded = [
        (endpoint.endpoint_id, rows) for endpoint, rows in zip(evaluation.pool, evaluation.refused, strict=True) if rows
    ]
    for endpoint_id, rows in sorted(excluded, key=lambda pair: pair[0].encode()):
        told.append(
            {
                "endpoint_id": endpoint_id,
                "rank": None,
                "refused_by": [{"reason": row.reason, "detail": row.detail} for row in rows],
                "score_e9": None,
                "terms": None,
            }
        )
    return {
        **_common(evaluation),
        "endpoints": told,
        "refusal": None if evaluation.ranking else _refusal(evaluation),
        "sentence": _sentence(evaluation) if evaluation.ranking else None,
    }


def _evaluate(case: JsonDict) -> _Evaluation:
    endpoints = [read_endpoint(raw) for raw in case["catalog"]]
    policy = read_policy(case["policy"])
    request = read_request(case["request"])
    names = read_names(endpoints)
    context = make_context(policy, request, case["now"], names)

    pinned = request.model not in POOL_NAMES
    resolution = resolve(request.model, names) if pinned else UNRESOLVED
    # Under exact_models an approximate resolution of the requested id is none (§2).
    if policy.exact_models and resolution.approximate:
        resolution = UNRESOLVED
    pool = [e for e in endpoints if not pinned or e.model == resolution.slug]

    refused = [refusals_of(endpoint, context) for endpoint in pool]
    survivors = [endpoint for endpoint, rows in zip(pool, refused, strict=True) if not rows]
    ranking = rank(survivors, request)
    return _Evaluation(endpoints, names, context, pinned, resolution, pool, refused, ranking)


def _common(evaluation: _Evaluation) -> JsonDict:
    """What decisions, refusals and explanations all say (§5)."""
    context, resolution = evaluation.context, evaluation.resolution
    return {
        "approximate": resolution.approximate,
        "considered": len(evaluation.pool),
        "effective_residency": context.residency,
        "excluded": sum(1 for rows in evaluation.refused if rows),
        "pinned": evaluation.pinned,
        "policy_id": context.policy.policy_id,
        "reasons": dict(Counter(rows[0].reason for rows in evaluation.refused if rows)),
        "requested_model": context.request.model,
        "resolved_model": resolution.slug,
        "retention": context.policy.retention,
        "steps": resolution.steps,
    }


def _sentence(evaluation: _Evaluation) -> str:
    considered = len(evaluation.pool)
    return sentences.decision_sentence(
        evaluation.context,
        evaluation.resolution.slug,
        evaluation.ranking[0].endpoint,
        considered - len(evaluation.ranking),
        considered,
    )


def _decision(evaluation: _Evaluation) -> JsonDict:
    context, ranking = evaluation.context, evaluation.ranking
    request = context.request
    needs = [need_ms(ranked.endpoint, request.expected_output_tokens) for ranked in ranking]
    candidates = [
        _candidate(ranking[place], context, needs[place], allowance)
        for place, allowance in within_budget(needs, context.spendable, request.max_attempts)
    ]
    return {
        **_common(evaluation),
        "candidates": candidates,
        "sentence": _sentence(evaluation),
    }


def _candidate(ranked: Ranked, context: Context, need: int, allowance: int | None) -> JsonDict:
    endpoint = ranked.endpoint
    raw = endpoint.raw
    return {
        "allowance_ms": allowance,
        "context_window": endpoint.context_window,
        "country": _shown(raw, "country"),
        "endpoint_id": endpoint.endpoint_id,
        "estimated_cost_e12": cost_e12(endpoint, context.request),
        "max_output_tokens": endpoint.max_output_tokens,
        "model": endpoint.model,
        "model_version": _shown(raw, "model_version"),
        "need_ms": need,
        "provider": _shown(raw, "provider"),
        "region": _shown(raw, "region"),
        "score_e9": ranked.score,
        "sovereignty": _shown(raw, "sovereignty"),
        "terms": ranked.terms,
    }


def _shown(raw: JsonDict, field: str) -> str | None:
    """A catalogue's text as it was written, trimmed; null stays null."""
    return None if raw.get(field) is None else trim(raw[field])


def _refusal(evaluation: _Evaluation) -> JsonDict:
    context = evaluation.context
    if evaluation.pinned and not evaluation.pool:
        asked = context.request.model
        close = close_slugs(asked, evaluation.endpoints, context.policy, evaluation.names)
        refusal = Refusal("model_not_found", sentences.model_not_found(asked, close))
        extra: JsonDict = {"close_slugs": close}
    else:
        refusal = refusal_of_pool(evaluation.pool, evaluation.refused, context, evaluation.resolution.slug)
        extra = {}
    return {
        **_common(evaluation),
        **extra,
        "code": refusal.code,
        "message": refusal.message,
        "transient": refusal.transient,
    }
