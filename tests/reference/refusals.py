"""Which refusal it is when nothing survives: the first that applies of decision.md §6."""

from typing import NamedTuple

from . import sentences
from .case import Endpoint
from .context import Context
from .rules import Refused, is_retired

UNAVAILABLE_RULES = {2, 22}
EXCLUDED_RULES = {2, 21, 22}


class Refusal(NamedTuple):
    """A refusal's code and message."""

    code: str
    message: str

    @property
    def transient(self) -> bool:
        """Whether the same request may succeed later."""
        return self.code == "no_endpoint_available"


def refusal_of_pool(pool: list[Endpoint], refused: list[list[Refused]], context: Context, resolved: str) -> Refusal:
    """The refusal of a pool without survivors; `refused` tells each endpoint's rows, none empty."""
    rules = [{row.rule for row in rows} for rows in refused]
    if resolved:
        if all(1 in broken for broken in rules):
            return Refusal("hosted_unavailable", f"{resolved} is listed, but nothing here answers with it.")
        if all(5 in broken for broken in rules):
            # Where the types differ the spec names none: that of the lowest endpoint_id.
            first = min(pool, key=lambda endpoint: endpoint.endpoint_id.encode())
            return Refusal(
                "not_a_text_model",
                f"{resolved} is of type {first.model_type} and cannot generate text.",
            )
        if all(broken & {8, 9} for broken in rules):
            return Refusal(
                "model_denied",
                f"Policy {context.policy.policy_id} does not allow the model {resolved}.",
            )
    waits = (
        broken <= UNAVAILABLE_RULES and not is_retired(endpoint, context.now) and endpoint.status != "unknown"
        for endpoint, broken in zip(pool, rules, strict=True)
    )
    if not pool or any(waits):
        return Refusal(
            "no_endpoint_available",
            "Every endpoint that may serve this request is down or suppressed.",
        )
    if any(21 in broken and broken <= EXCLUDED_RULES for broken in rules):
        return Refusal(
            "all_candidates_excluded",
            "Every endpoint that may serve this request was excluded by it.",
        )
    first_reasons = [rows[0].reason for rows, broken in zip(refused, rules, strict=True) if not broken & {3, 4}]
    return Refusal("no_endpoint_for_policy", sentences.no_endpoint_for_policy(context, first_reasons))
