"""Refusals that are made before any endpoint is looked at: they consider none, and so exclude none."""

from __future__ import annotations

from router_service.domain.decision import Refusal
from router_service.domain.policy import Policy
from router_service.domain.request import RouteRequest
from router_service.engine.decide import asked_residency
from router_service.engine.index import Index

DATA_CLASS_NOT_ALLOWED = "data_class_not_allowed"
BUDGET_EXCEEDED = "budget_exceeded"
EARLY_REFUSALS = frozenset((DATA_CLASS_NOT_ALLOWED, BUDGET_EXCEEDED))


def refuse(
    index: Index, policy: Policy, request: RouteRequest, code: str, message: str, retry_at: int | None = None
) -> Refusal:
    """A refusal of the layer before the engine; `retry_at` (ms) is when the same request may succeed."""
    return Refusal(
        policy_id=policy.policy_id,
        requested_model=request.model,
        resolved_model="",
        steps=(),
        approximate=False,
        pinned=request.model not in index.models.pool_names,
        effective_residency=policy.effective_residency(asked_residency(request)),
        retention=policy.retention,
        considered=0,
        excluded=0,
        reasons={},
        code=code,
        message=message,
        retry_at=retry_at,
    )
