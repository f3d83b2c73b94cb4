"""Which refusal applies when nothing survives: a table tried from the top (docs/decision.md, When nothing survives)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extract

from router_service.domain import reasons
from router_service.engine import sentences
from router_service.engine.bits import positions
from router_service.engine.case import Case
from router_service.engine.filters import admitted, every_refusal
from router_service.engine.model_id import without_prefixes

_SUGGESTIONS = 3
_CLOSE = 3  # a suggestion may differ in at most a third of the id


class Failure:
    """A case in which nothing survived: every rule's refusals, as the rows of the table ask for them."""

    def __init__(self, case: Case, pool: int, model: str, first: dict[str, int]) -> None:
        self.case, self.pool, self.model, self.first = case, pool, model, first
        self.refused = {rule.reason: refused for rule, refused in every_refusal(case, pool)}

    def only(self, *allowed: str) -> int:
        """The endpoints of the pool that are refused by some of these reasons and by no other."""
        stopped, passed = 0, self.pool
        for reason, refused in self.refused.items():
            if reason in allowed:
                stopped |= refused
            else:
                passed &= ~refused
        return stopped & passed

    @property
    def waiting(self) -> int:
        """The endpoints that only their status or their circuit keeps out, and that may come back."""
        index = self.case.index
        gone = index.retirements.at_most(self.case.now) | index.unknown_status
        return self.only(reasons.STATUS_NOT_ROUTABLE, reasons.CIRCUIT_OPEN) & ~gone

    @property
    def retry_at(self) -> int | None:
        """The instant at which the first suppression among those that only that keeps out ends."""
        case = self.case
        out = positions(self.only(reasons.CIRCUIT_OPEN) & self.waiting)
        ends = [case.held.or_suppressed(i, case.index.endpoints[i]) for i in out]
        return min((end for end in ends if end is not None), default=None)


@dataclass(frozen=True, slots=True)
class _Row:
    code: str
    applies: Callable[[Failure], bool]
    message: Callable[[Failure], str]


def _no_endpoint_for_policy(failure: Failure) -> str:
    case, refused = failure.case, failure.refused
    inside = failure.pool
    for reason in (
        reasons.SOVEREIGNTY_DENIED_BY_POLICY,
        reasons.SOVEREIGNTY_OUTSIDE_RESIDENCY,
        reasons.REGION_DENIED_BY_POLICY,
        reasons.REGION_OUTSIDE_RESIDENCY,
    ):
        inside &= ~refused[reason]
    policy_id = case.policy.policy.policy_id
    if not inside:
        return sentences.no_endpoint_in_residency(case.residency, policy_id)
    counts = [(reason, (bits & inside).bit_count()) for reason, bits in failure.first.items() if bits & inside]
    # Stable, so that equal counts stay in the filter's order.
    counts.sort(key=lambda one: -one[1])
    return sentences.no_endpoint_can_take(case.residency, policy_id, counts)


_TABLE: tuple[_Row, ...] = (
    _Row(
        "hosted_unavailable",
        lambda one: bool(one.model) and one.refused[reasons.CATALOG_ONLY] == one.pool,
        lambda one: sentences.hosted_unavailable(one.model),
    ),
    _Row(
        "not_a_text_model",
        lambda one: bool(one.model) and one.refused[reasons.NOT_A_TEXT_MODEL] == one.pool,
        lambda one: sentences.not_a_text_model(
            one.model, one.case.index.endpoints[next(positions(one.pool))].model_type
        ),
    ),
    _Row(
        "model_denied",
        lambda one: (
            bool(one.model) and one.refused[reasons.MODEL_DENIED] | one.refused[reasons.MODEL_NOT_ALLOWED] == one.pool
        ),
        lambda one: sentences.model_denied(one.case.policy.policy.policy_id, one.model),
    ),
    _Row(
        "no_endpoint_available",
        lambda one: bool(one.waiting) or not (one.pool or one.model),
        lambda one: sentences.NO_ENDPOINT_AVAILABLE,
    ),
    _Row(
        "all_candidates_excluded",
        lambda one: bool(
            one.refused[reasons.EXCLUDED_BY_REQUEST]
            & one.only(reasons.STATUS_NOT_ROUTABLE, reasons.EXCLUDED_BY_REQUEST, reasons.CIRCUIT_OPEN)
        ),
        lambda one: sentences.ALL_CANDIDATES_EXCLUDED,
    ),
    _Row("no_endpoint_for_policy", lambda one: True, _no_endpoint_for_policy),
)


def refusal_of(failure: Failure) -> tuple[str, str]:
    """The literal code and the message of the first row that applies."""
    row = next(row for row in _TABLE if row.applies(failure))
    return row.code, row.message(failure)


def close_slugs(case: Case, asked: str) -> tuple[str, ...]:
    """At most three slugs that the asked id probably meant, nearest first, then by bytes.

    Only models are named that the policy would admit for an empty request, so that a suggestion never tells of a
    model that its caller may not use.
    """
    measured = without_prefixes(asked)
    usable = _usable_slugs(case)
    distances = {slug: 0 for slug in usable if measured.startswith(f"{slug}:") or asked.startswith(f"{slug}:")}
    near = extract(measured, usable, scorer=Levenshtein.distance, score_cutoff=len(measured) // _CLOSE, limit=None)
    for slug, distance, _ in near:
        distances.setdefault(slug, distance)
    return tuple(sorted(distances, key=lambda slug: (distances[slug], slug))[:_SUGGESTIONS])


def _usable_slugs(case: Case) -> list[str]:
    """The slugs with an endpoint that the policy admits for an empty request."""
    index, sets = case.index, case.policy
    usable = index.usable_slugs.get(sets)
    if usable is None:
        inside = admitted(index, sets)
        usable = index.usable_slugs[sets] = [slug for slug, bits in index.by_slug.items() if bits & inside]
    return usable
