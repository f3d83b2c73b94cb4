"""Classes of data: which a policy allows, and whether it must be told (docs/decision.md, Around the decision)."""

from __future__ import annotations

from router_service.domain.policy import Policy


def objection(policy: Policy, data_class: str) -> str:
    """Why the policy does not take a request of this class (folded; empty is none named); empty where it does."""
    if not data_class:
        if policy.require_data_class:
            return f"Policy {policy.policy_id} requires a data class and the request names none."
        return ""
    if policy.data_classes and data_class not in policy.data_classes:
        return f"Policy {policy.policy_id} does not allow the data class {data_class}."
    return ""
