"""Every literal sentence of a decision or a refusal (docs/decision.md, What a decision says; When nothing survives)."""

from __future__ import annotations

from collections.abc import Iterable

from router_service.domain import words
from router_service.domain.endpoint import Endpoint

_CLASSES = {
    words.EU_OWNED: "EU-owned and EU-hosted",
    words.EU_HOSTED: "EU-hosted",
    words.GLOBAL: "hosted outside the EU",
}
NEVER_RELAXED = "Residency is never silently relaxed."


def decided(
    first: Endpoint,
    *,
    pinned: str,
    task: str,
    residency: str,
    excluded: int,
    considered: int,
    partner_endpoints: bool,
) -> str:
    """Why a request goes where it goes; `pinned` is the model that it named, or empty."""
    task = words.TASK_ALIASES.get(task, task)
    article = "an" if task[0] in "aeiou" else "a"
    opening = f"Pinned to {pinned}" if pinned else "Automatic routing"
    place = first.region or "an undocumented region"
    kind = _CLASSES.get(first.sovereignty, "of undocumented sovereignty")
    partners = "allowed" if partner_endpoints else "not allowed"
    return (
        f"{opening} for {article} {task} task with {residency} residency: {first.model} in {place}, {kind}; "
        f"{excluded} of {considered} endpoints excluded; partner endpoints {partners}."
    )


def model_not_found(asked: str, close: Iterable[str]) -> str:
    """Nobody has the model; `close` are the slugs that were probably meant."""
    suggestion = ", ".join(close)
    hint = f" Did you mean {suggestion}?" if suggestion else ""
    return f"No endpoint offers the model {asked}.{hint}"


def hosted_unavailable(model: str) -> str:
    """The model is only listed."""
    return f"{model} is listed, but nothing here answers with it."


def not_a_text_model(model: str, model_type: str) -> str:
    """The model generates something else."""
    return f"{model} is of type {model_type} and cannot generate text."


def model_denied(policy_id: str, model: str) -> str:
    """The policy's lists refuse the model."""
    return f"Policy {policy_id} does not allow the model {model}."


NO_ENDPOINT_AVAILABLE = "Every endpoint that may serve this request is down or suppressed."
ALL_CANDIDATES_EXCLUDED = "Every endpoint that may serve this request was excluded by it."


def no_endpoint_in_residency(residency: str, policy_id: str) -> str:
    """No endpoint passes the rules of sovereignty and region."""
    return f"No endpoint satisfies {residency} residency under policy {policy_id}. {NEVER_RELAXED}"


def no_endpoint_can_take(residency: str, policy_id: str, counts: Iterable[tuple[str, int]]) -> str:
    """Some endpoints are inside, and these are the reasons that stop them."""
    why = ", ".join(f"{count} {reason}" for reason, count in counts)
    return (
        f"No endpoint within {residency} residency under policy {policy_id} can take this request: {why}. "
        f"{NEVER_RELAXED}"
    )
