"""Which slugs are close to an id that no endpoint has (§6, Close)."""

from .case import Endpoint, Policy, read_request
from .context import make_context
from .model_id import Names, after_prefixes
from .rules import refusals_of

_ADMITTING_RULES = frozenset({1, 3, 4, 5, 6, 7, 8, 9, 10})
_AT_MOST = 3


def close_slugs(asked: str, endpoints: list[Endpoint], policy: Policy, names: Names) -> list[str]:
    """At most three slugs that the policy would admit, nearest first, then by bytes."""
    stripped = after_prefixes(asked)
    distances: dict[str, int] = {}
    for slug in names.aliases:
        if asked.startswith(slug + ":") or stripped.startswith(slug + ":"):
            distances[slug] = 0
        elif 3 * (distance := levenshtein(slug, stripped)) <= len(stripped):
            distances[slug] = distance
    nearest = sorted(distances, key=lambda slug: (distances[slug], slug.encode()))
    # The rules look at an empty request: the policy's own residency, no limit, no capability.
    context = make_context(policy, read_request({}), 0, names)
    admitted = {
        endpoint.model
        for endpoint in endpoints
        if endpoint.model in distances
        and not any(refused.rule in _ADMITTING_RULES for refused in refusals_of(endpoint, context))
    }
    return [slug for slug in nearest if slug in admitted][:_AT_MOST]


def levenshtein(a: str, b: str) -> int:
    """The least number of single insertions, deletions and substitutions from a to b."""
    row = list(range(len(b) + 1))
    for i, char_a in enumerate(a, start=1):
        before = row
        row = [i]
        for j, char_b in enumerate(b, start=1):
            row.append(
                min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (char_a != char_b)),
            )
    return row[-1]
