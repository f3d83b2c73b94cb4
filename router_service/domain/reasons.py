"""The literal reasons for which an endpoint is passed over, and the refusals (docs/decision.md, The filter).

Both orders are part of the contract: the first row that refuses an endpoint gives its reason.
"""

from __future__ import annotations

from dataclasses import dataclass

CATALOG_ONLY = "catalog_only"
STATUS_NOT_ROUTABLE = "status_not_routable"
SOVEREIGNTY_DENIED_BY_POLICY = "sovereignty_denied_by_policy"
SOVEREIGNTY_OUTSIDE_RESIDENCY = "sovereignty_outside_residency"
REGION_DENIED_BY_POLICY = "region_denied_by_policy"
REGION_OUTSIDE_RESIDENCY = "region_outside_residency"
NOT_A_TEXT_MODEL = "not_a_text_model"
PROVIDER_DENIED = "provider_denied"
PROVIDER_NOT_ALLOWED = "provider_not_allowed"
MODEL_DENIED = "model_denied"
MODEL_NOT_ALLOWED = "model_not_allowed"
PARTNER_NOT_ENABLED = "partner_not_enabled"
NO_VISION = "no_vision"
CONTEXT_WINDOW_EXCEEDED = "context_window_exceeded"
PRICE_ABOVE_CEILING = "price_above_ceiling"
PRICE_NOT_DOCUMENTED = "price_not_documented"
MODALITY_UNSUPPORTED = "modality_unsupported"
TOOLS_UNSUPPORTED = "tools_unsupported"
STRUCTURED_OUTPUT_UNSUPPORTED = "structured_output_unsupported"
MODEL_CLASS_NOT_ALLOWED = "model_class_not_allowed"
OUTPUT_LIMIT_EXCEEDED = "output_limit_exceeded"
COST_ABOVE_LIMIT = "cost_above_limit"
COST_NOT_DOCUMENTED = "cost_not_documented"
DEADLINE_UNREACHABLE = "deadline_unreachable"
EXCLUDED_BY_REQUEST = "excluded_by_request"
CIRCUIT_OPEN = "circuit_open"


@dataclass(frozen=True, slots=True)
class RefusalKind:
    """What a refusal means to a caller: whether waiting can help, and the HTTP status for a proxy to pass on."""

    code: str
    http_status: int
    transient: bool = False


REFUSALS: dict[str, RefusalKind] = {
    kind.code: kind
    for kind in (
        RefusalKind("model_not_found", 404),
        RefusalKind("hosted_unavailable", 409),
        RefusalKind("not_a_text_model", 400),
        RefusalKind("model_denied", 403),
        RefusalKind("no_endpoint_available", 503, transient=True),
        RefusalKind("all_candidates_excluded", 409),
        RefusalKind("no_endpoint_for_policy", 409),
        # Before any endpoint is looked at:
        RefusalKind("data_class_not_allowed", 403),
        RefusalKind("budget_exceeded", 429, transient=True),
    )
}
