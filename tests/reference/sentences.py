"""The literal sentence of a decision and the literal messages of refusals (§5, §6)."""

from collections import Counter

from .case import Endpoint
from .context import Context
from .rules import REASONS
from .text import trim

_CLASSES = {
    "eu-owned": "EU-owned and EU-hosted",
    "eu-hosted": "EU-hosted",
    "global": "hosted outside the EU",
    "": "of undocumented sovereignty",
}
NEVER_RELAXED = "Residency is never silently relaxed."


def decision_sentence(context: Context, resolved: str, first: Endpoint, excluded: int, considered: int) -> str:
    """The sentence about the first candidate (§5)."""
    task = context.request.task
    article = "an" if task[0] in "aeiou" else "a"
    region = trim(first.raw.get("region")) or "an undocumented region"
    partner = "allowed" if context.policy.partner_endpoints else "not allowed"
    return (
        f"{f'Pinned to {resolved}' if resolved else 'Automatic routing'}"
        f" for {article} {task} task with {context.residency} residency:"
        f" {first.model} in {region}, {_CLASSES[first.sovereignty]};"
        f" {excluded} of {considered} endpoints excluded; partner endpoints {partner}."
    )


def model_not_found(asked: str, close: list[str]) -> str:
    """The message of a 404, with what may have been meant."""
    suggestion = f" Did you mean {', '.join(close)}?" if close else ""
    return f"No endpoint offers the model {asked}.{suggestion}"


def no_endpoint_for_policy(context: Context, first_reasons: list[str]) -> str:
    """The message of the 409; the first reasons of the endpoints that pass rules 3 and 4."""
    residency, policy_id = context.residency, context.policy.policy_id
    if not first_reasons:
        return f"No endpoint satisfies {residency} residency under policy {policy_id}. {NEVER_RELAXED}"
    counts = Counter(first_reasons)
    ordered = sorted(counts, key=lambda reason: (-counts[reason], REASONS.index(reason)))
    told = ", ".join(f"{counts[reason]} {reason}" for reason in ordered)
    return (
        f"No endpoint within {residency} residency under policy {policy_id}"
        f" can take this request: {told}. {NEVER_RELAXED}"
    )
