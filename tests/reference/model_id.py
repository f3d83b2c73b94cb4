"""What a requested model id means to a catalogue: the five steps of decision.md §2."""

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from .case import Endpoint

POOL_NAMES = frozenset({"", "auto", "llmeu-auto", "llmeu/auto", "llmeu:auto"})

_REVISION = re.compile(r"-v?([0-9]+):([0-9]+)\Z")
_PREFIX = re.compile(r"([a-z0-9-]+)\.(?=[a-z])")
_APPROXIMATE_STEPS = frozenset({"revision", "version", "date"})

# Step 5, the longest form first; each names the groups y (year), m (month), d (day) that it has.
_DATES = (
    re.compile(r"-(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})\Z"),
    re.compile(r"-(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})\Z"),
    re.compile(r"-(?P<y>[0-9]{4})-(?P<m>[0-9]{2})\Z"),
    re.compile(r"-(?P<m>[0-9]{2})-(?P<y>[0-9]{4})\Z"),
    re.compile(r"-(?P<y>[0-9]{2})(?P<m>[0-9]{2})\Z"),
    re.compile(r"-(?P<m>[0-9]{2})(?P<d>[0-9]{2})\Z"),
)


class Names(NamedTuple):
    """What the catalogue knows: names of models, vendors, and who makes and serves each model."""

    slug_of: dict[str, str]
    aliases: dict[str, set[str]]
    vendors: set[str]
    model_vendors: dict[str, set[str]]
    model_providers: dict[str, set[str]]


class Resolution(NamedTuple):
    """What an id resolved to ("" for nothing), and by which steps."""

    slug: str
    steps: list[str]

    @property
    def approximate(self) -> bool:
        """Whether revision, version or date was cut (§2)."""
        return any(step in _APPROXIMATE_STEPS for step in self.steps)


UNRESOLVED = Resolution("", [])


def read_names(endpoints: list[Endpoint]) -> Names:
    """What all endpoints together know, those included that nothing here answers with."""
    names = Names({}, {}, set(), {}, {})
    for endpoint in endpoints:
        slug = endpoint.model
        names.slug_of[slug] = slug
        for alias in endpoint.aliases:
            names.slug_of[alias] = slug
        names.aliases.setdefault(slug, set()).update(endpoint.aliases)
        names.model_vendors.setdefault(slug, set()).update({endpoint.vendor} - {""})
        names.model_providers.setdefault(slug, set()).update({endpoint.provider} - {""})
        names.vendors.update({endpoint.vendor} - {""})
    return names


def resolve(model_id: str, names: Names) -> Resolution:
    """The model that a folded id names: the first known result of the steps wins."""
    steps: list[str] = []
    cut: list[str] = []
    for step, left, segments in _results(model_id):
        if step and step not in steps:
            steps.append(step)
        cut.extend(segments)
        if left in names.slug_of:
            slug = names.slug_of[left]
            return UNRESOLVED if _is_foreign(cut, slug, names) else Resolution(slug, steps)
    return UNRESOLVED


def after_prefixes(model_id: str) -> str:
    """The id as step 4 leaves it, whatever is known of it (§6, Close)."""
    left = model_id
    for step, result, _ in _results(model_id):
        if step != "date":
            left = result
    return left


def asks_for_eu(model_id: str) -> bool:
    """Whether a path segment is `eu` or starts with `eu.`; the last segment is one too (§2)."""
    return any(part == "eu" or part.startswith("eu.") for part in model_id.split("/"))


def _is_foreign(cut: list[str], slug: str, names: Names) -> bool:
    """Whether what was cut names known vendors, but neither maker nor provider of the model."""
    named = {part for part in cut if part in names.vendors}
    makers = names.model_vendors[slug]
    return bool(named and makers) and not named & (makers | names.model_providers[slug])


def _results(model_id: str) -> Iterator[tuple[str, str, list[str]]]:
    """Each result in turn: (the step, what it left, the segments or prefixes that it cut)."""
    left = model_id
    yield "", left, []

    shorter = _without_revision(left)
    if shorter not in ("", left):
        left = shorter
        yield "revision", left, []

    at = left.rfind("@")
    if at > left.rfind("/") and at > 0:
        left = left[:at]
        yield "version", left, []

    *segments, last = left.split("/")
    if segments and last:
        left = last
        yield "path", left, segments

    while found := _PREFIX.match(left):
        left = left[found.end() :]
        yield "prefix", left, [found[1]]

    shorter = left.removesuffix("-latest")
    if shorter == left:
        shorter = _without_date(left)
    if shorter not in ("", left):
        left = shorter
        yield "date", left, []


def _without_revision(model_id: str) -> str:
    if model_id.endswith(":latest"):
        return model_id.removesuffix(":latest")
    found = _REVISION.search(model_id)
    if found is None:
        return model_id
    left = model_id[: found.start()]
    return left if found.groups() == ("1", "0") or _without_date(left) != left else model_id


def _without_date(model_id: str) -> str:
    for form in _DATES:
        found = form.search(model_id)
        if found and _is_date(found.groupdict()):
            return model_id[: found.start()]
    return model_id


def _is_date(parts: dict[str, str]) -> bool:
    """Whether the parts are a date of the years 2020 to 2039; -MMDD may be of a leap year."""
    year = int(parts.get("y", "2020"))
    if len(parts.get("y", "")) == 2:
        year += 2000
    try:
        date(year, int(parts["m"]), int(parts.get("d", "1")))
    except ValueError:
        return False
    return 2020 <= year <= 2039
