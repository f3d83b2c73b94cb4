"""What one decision knows before it looks at an endpoint: residency, limits, resolved entries."""

from typing import NamedTuple

from .case import EU_CLASSES, Policy, Request
from .model_id import Names, asks_for_eu, resolve
from .text import fold, glob_matches
from .time_budget import spendable_ms


class ModelEntry(NamedTuple):
    """One entry of a model list: as written, and the slugs that it matches."""

    written: str
    slugs: set[str]


class Context(NamedTuple):
    """The inputs of the rules, beside the endpoint itself."""

    policy: Policy
    request: Request
    now: int
    residency: str
    ceiling: int | None
    spendable: int | None
    model_allow: list[ModelEntry]
    model_deny: list[ModelEntry]


def make_context(policy: Policy, request: Request, now: int, names: Names) -> Context:
    """What policy and request come to together: the lower ceiling, the residency in effect."""
    ceilings = [limit for limit in (policy.max_price, request.max_price) if limit is not None]
    return Context(
        policy=policy,
        request=request,
        now=now,
        residency=effective_residency(policy, request),
        ceiling=min(ceilings, default=None),
        spendable=None if request.deadline_ms is None else spendable_ms(request.deadline_ms),
        model_allow=[_read_entry(entry, names, allow=True) for entry in policy.model_allow],
        model_deny=[_read_entry(entry, names, allow=False) for entry in policy.model_deny],
    )


def effective_residency(policy: Policy, request: Request) -> str:
    """The residency named, by word or by an `eu` segment of the id, or else the policy's own."""
    residency = request.residency
    if asks_for_eu(request.model) and residency in ("", "any"):
        residency = "eu-hosted"
    eu_classes_alone = all(c in EU_CLASSES for c in policy.residency)
    if residency == "" or (residency == "any" and eu_classes_alone):
        return policy.own_residency
    return residency


def _read_entry(written: str, names: Names, *, allow: bool) -> ModelEntry:
    """A model entry: a glob on slugs and aliases, or an id normalised like a requested one (§1)."""
    entry = fold(written)
    if "*" in entry:
        slugs = {slug for name, slug in names.slug_of.items() if glob_matches(entry, name)}
        return ModelEntry(written, slugs)
    resolution = resolve(entry, names)
    # An entry that resolves only approximately matches in a deny list, never in an allow list.
    if resolution.slug == "" or (allow and resolution.approximate):
        return ModelEntry(written, set())
    return ModelEntry(written, {resolution.slug})
