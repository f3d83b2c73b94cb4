"""The pipeline of a decision: pool → filter → rank → decision or refusal (docs/decision.md).

    decide(index, policy, request, now, held) -> Decision | Refusal

`index` is the compiled form of the candidates, `now` an instant in ms, `held` what is suppressed beside what the index
says. Nothing else goes in: no clock, no file, no network, no chance, no log.
"""

from __future__ import annotations

from typing import TypedDict

import msgspec

from router_service.domain import words
from router_service.domain.decision import Candidate, Decision, Refusal
from router_service.domain.policy import Policy
from router_service.domain.reasons import REFUSALS
from router_service.domain.request import RouteRequest
from router_service.engine import sentences
from router_service.engine.case import Case, make_case
from router_service.engine.cost import estimated_cost
from router_service.engine.filters import first_reasons
from router_service.engine.held import NOTHING, Held
from router_service.engine.index import Index
from router_service.engine.model_id import Resolution, asks_for_eu
from router_service.engine.refusals import Failure, close_slugs, refusal_of
from router_service.engine.time_budget import allowances_ms, failover_list, need_ms, spendable_ms


class _Verdict(TypedDict):
    """What a decision and a refusal share."""

    policy_id: str
    requested_model: str
    resolved_model: str
    steps: tuple[str, ...]
    approximate: bool
    pinned: bool
    effective_residency: str
    retention: str
    considered: int
    excluded: int
    reasons: dict[str, int]


class Selection(msgspec.Struct, frozen=True):
    """How far the pipeline came: the pool, what survived the filter, and which positions became attempts."""

    case: Case
    pool: int
    survivors: int
    attempts: tuple[int, ...]
    result: Decision | Refusal


def decide(index: Index, policy: Policy, request: RouteRequest, now: int, held: Held = NOTHING) -> Decision | Refusal:
    """Where the request may go and in which order to fall back, or why it may go nowhere.

    The same request in the same epoch of the index has the same answer, so that it is worked out once.
    """
    sets = index.sets_of(policy)
    key = (sets, request, index.epoch(now), held)
    known = index.answers.get(key)
    if known is None:
        known = select(index, policy, request, now, held).result
        if request.is_short:
            index.answers[key] = known
    return known


def select(index: Index, policy: Policy, request: RouteRequest, now: int, held: Held = NOTHING) -> Selection:
    """The same decision with all that led to it, for `explain` to tell."""
    residency = policy.effective_residency(asked_residency(request))
    case = make_case(index, index.sets_of(policy), request, now, residency, held)
    pinned = request.model not in index.models.pool_names
    resolution = _resolve(case) if pinned else None
    if pinned and resolution is None:
        return _not_found(case)
    pool = index.by_slug[resolution.slug] if resolution else index.everything
    refused, survivors = first_reasons(case, pool)
    verdict: _Verdict = {
        "policy_id": policy.policy_id,
        "requested_model": request.model,
        "resolved_model": resolution.slug if resolution else "",
        "steps": resolution.steps if resolution else (),
        "approximate": resolution is not None and resolution.approximate,
        "pinned": pinned,
        "effective_residency": case.residency,
        "retention": policy.retention,
        "considered": pool.bit_count(),
        "excluded": (pool ^ survivors).bit_count(),
        "reasons": {reason: bits.bit_count() for reason, bits in refused.items()},
    }
    if not survivors:
        return Selection(case, pool, 0, (), _refusal(Failure(case, pool, verdict["resolved_model"], refused), verdict))
    attempts, candidates = _failover(case, survivors)
    sentence = sentences.decided(
        candidates[0].endpoint,
        pinned=verdict["resolved_model"],
        task=request.task,
        residency=case.residency,
        excluded=verdict["excluded"],
        considered=verdict["considered"],
        partner_endpoints=policy.partner_endpoints,
    )
    return Selection(
        case, pool, survivors, tuple(attempts), Decision(**verdict, candidates=candidates, sentence=sentence)
    )


def _failover(case: Case, survivors: int) -> tuple[list[int], tuple[Candidate, ...]]:
    """The positions that become attempts, down the ranking of the survivors, and the candidates made of them."""
    index, request = case.index, case.request
    ranking = index.rankings.best(survivors, index.rankings.ask(request))
    spendable = None if request.deadline_ms is None else spendable_ms(request.deadline_ms)
    needs = ((i, need_ms(index.endpoints[i], request.expected_output_tokens)) for i in ranking.walk())
    attempts = failover_list(needs, spendable, request.max_attempts)
    allowances = (None,) * len(attempts) if spendable is None else allowances_ms(spendable, len(attempts))
    return [i for i, _ in attempts], tuple(
        Candidate(ranking.standing(i), estimated_cost(index.endpoints[i], request), need, allowance)
        for (i, need), allowance in zip(attempts, allowances, strict=True)
    )


def _refusal(failure: Failure, verdict: _Verdict) -> Refusal:
    code, message = refusal_of(failure)
    retry_at = failure.retry_at if REFUSALS[code].transient else None
    return Refusal(**verdict, code=code, message=message, retry_at=retry_at)


def asked_residency(request: RouteRequest) -> str:
    """The residency that the request names; an id with an `eu` path segment asks for the EU at least."""
    if request.residency != words.EU_OWNED and asks_for_eu(request.model):
        return words.EU_HOSTED
    return request.residency


def _resolve(case: Case) -> Resolution | None:
    resolution = case.index.models.resolve(case.request.model)
    if resolution and resolution.approximate and case.policy.policy.exact_models:
        return None
    return resolution


def _not_found(case: Case) -> Selection:
    policy, asked = case.policy.policy, case.request.model
    close = close_slugs(case, asked)
    refusal = Refusal(
        policy_id=policy.policy_id,
        requested_model=asked,
        resolved_model="",
        steps=(),
        approximate=False,
        pinned=True,
        effective_residency=case.residency,
        retention=policy.retention,
        considered=0,
        excluded=0,
        reasons={},
        code="model_not_found",
        message=sentences.model_not_found(asked, close),
        close_slugs=close,
    )
    return Selection(case, 0, 0, (), refusal)
