"""What a model id means to a catalogue: exact or normalised, by fixed steps (docs/decision.md, Model ids)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from router_service.domain.endpoint import Endpoint
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.text import fold
from router_service.engine.cache import Bounded
from router_service.engine.facts import SLICE

REVISION, VERSION, PATH, PREFIX, DATE = "revision", "version", "path", "prefix", "date"
# Steps that leave something of the version open, so that what they find is approximate.
APPROXIMATE_STEPS = frozenset((REVISION, VERSION, DATE))

_LATEST_TAG = ":latest"
_LATEST = "-latest"
_CLOUD_REVISION = re.compile(r"-v?([0-9]+):([0-9]+)\Z")
_VENDOR_PREFIX = re.compile(r"[a-z0-9-]+\.(?=[a-z])")
_YEARS = range(2020, 2040)
_LEAP_YEAR = 2020  # a month and a day alone are valid if they are in some year

# (form, pattern) of the date suffixes, longest first; a group that is missing does not count.
_DATE_SUFFIXES = tuple(
    re.compile(pattern + r"\Z")
    for pattern in (
        r"-(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})",
        r"-(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})",
        r"-(?P<y>[0-9]{4})-(?P<m>[0-9]{2})",
        r"-(?P<m>[0-9]{2})-(?P<y>[0-9]{4})",
        r"-(?P<yy>[0-9]{2})(?P<m>[0-9]{2})",
        r"-(?P<m>[0-9]{2})(?P<d>[0-9]{2})",
    )
)


@dataclass(frozen=True, slots=True)
class Resolution:
    """A slug, the name it was known by (itself or an alias), and the steps that led from the id to that name."""

    slug: str
    name: str
    steps: tuple[str, ...] = ()

    @property
    def approximate(self) -> bool:
        """Whether a revision, version or date was cut."""
        return not APPROXIMATE_STEPS.isdisjoint(self.steps)


@dataclass(frozen=True, slots=True)
class _Cut:
    """An id after one more step: what is left, the steps so far, and every path segment or prefix cut off."""

    left: str
    steps: tuple[str, ...]
    gone: tuple[str, ...]


class ModelNames:
    """The slugs and aliases that a catalogue knows, with the vendors and providers behind each slug."""

    def __init__(self, endpoints: Iterable[Endpoint], pool_names: frozenset[str]) -> None:
        """Raises InvalidValue where an alias belongs to two slugs, or is a slug or a pool name itself."""
        for _ in self.compile(endpoints, pool_names):
            pass

    def compile(self, endpoints: Iterable[Endpoint], pool_names: frozenset[str]) -> Iterator[None]:
        """The same, bit by bit, for an instance that was made without it."""
        self.pool_names = pool_names
        self.aliases: dict[str, set[str]] = {}
        self._vendors: dict[str, set[str]] = {}
        self._providers: dict[str, set[str]] = {}
        self._resolved: Bounded[str, Resolution | None] = Bounded(4096)
        for number, endpoint in enumerate(endpoints):
            self.aliases.setdefault(endpoint.model, set()).update(endpoint.aliases)
            self._vendors.setdefault(endpoint.model, set()).update((endpoint.vendor,) if endpoint.vendor else ())
            self._providers.setdefault(endpoint.model, set()).add(fold(endpoint.provider))
            if number % SLICE == 0:
                yield
        self._known_vendors: frozenset[str] = frozenset().union(*self._vendors.values())
        self._slug_of = {slug: slug for slug in self.aliases}
        problems = list(self._clashes())
        if problems:
            raise InvalidValue("aliases", problems)

    def _clashes(self) -> Iterator[Problem]:
        for slug in sorted(self.aliases):
            if slug in self.pool_names:
                yield Problem("model", f'"{slug}" stands for the whole pool', "use another slug")
            for alias in sorted(self.aliases[slug]):
                owner = self._slug_of.get(alias)
                if owner is None and alias not in self.pool_names:
                    self._slug_of[alias] = slug
                    continue
                what = "a pool name" if owner is None else "a slug" if owner == alias else f"an alias of {owner}"
                yield Problem(
                    "aliases",
                    f'alias "{alias}" of {slug} is {what} too',
                    "an id must mean one model: keep it in one place",
                )

    @property
    def slugs(self) -> Iterable[str]:
        """Every slug of the catalogue."""
        return self.aliases.keys()

    def names(self, slug: str) -> tuple[str, ...]:
        """The slug and its aliases, by bytes."""
        return (slug, *sorted(self.aliases[slug]))

    def resolve(self, model_id: str) -> Resolution | None:
        """What a folded id names, or None. Pool names are the caller's to look at first."""
        if model_id not in self._resolved:
            self._resolved[model_id] = self._resolve(model_id)
        return self._resolved[model_id]

    def _resolve(self, model_id: str) -> Resolution | None:
        for cut in _cuts(model_id):
            slug = self._slug_of.get(cut.left)
            if slug is not None:
                return None if self._contradicted(slug, cut.gone) else Resolution(slug, cut.left, cut.steps)
        return None

    def _contradicted(self, slug: str, gone: tuple[str, ...]) -> bool:
        """Whether what was cut names a vendor that has nothing to do with the model (`mistralai/claude-x`)."""
        claimed = self._known_vendors.intersection(gone)
        own = self._vendors[slug]
        return bool(claimed and own and claimed.isdisjoint(own) and claimed.isdisjoint(self._providers[slug]))


def asks_for_eu(model_id: str) -> bool:
    """Whether a folded id has a path segment that is `eu` or starts with `eu.`: such an id asks for the EU."""
    return any(segment == "eu" or segment.startswith("eu.") for segment in model_id.split("/"))


def without_prefixes(model_id: str) -> str:
    """The id as the step `prefix` leaves it, every dotted prefix cut: what suggestions are measured against."""
    left = model_id
    for cut in _cuts(model_id):
        if DATE in cut.steps:
            break
        left = cut.left
    return left


def _cuts(model_id: str) -> Iterator[_Cut]:
    """The id as it stands and after each further step that cuts something; a step that would leave nothing does not."""
    cut = _Cut(model_id, (), ())
    yield cut
    for step, left in ((REVISION, _without_revision), (VERSION, _without_version)):
        shorter = left(cut.left)
        if shorter and shorter != cut.left:
            cut = _Cut(shorter, (*cut.steps, step), cut.gone)
            yield cut
    *segments, last = cut.left.split("/")
    if segments and last:
        cut = _Cut(last, (*cut.steps, PATH), (*cut.gone, *segments))
        yield cut
    while prefix := _VENDOR_PREFIX.match(cut.left):
        steps = cut.steps if PREFIX in cut.steps else (*cut.steps, PREFIX)
        cut = _Cut(cut.left[prefix.end() :], steps, (*cut.gone, prefix[0][:-1]))
        yield cut
    shorter = cut.left.removesuffix(_LATEST)
    if shorter == cut.left:
        shorter = _without_date(cut.left)
    if shorter and shorter != cut.left:
        yield _Cut(shorter, (*cut.steps, DATE), cut.gone)


def _without_revision(text: str) -> str:
    if text.endswith(_LATEST_TAG):
        return text.removesuffix(_LATEST_TAG)
    revision = _CLOUD_REVISION.search(text)
    if revision is None:
        return text
    left = text[: revision.start()]
    return left if revision.groups() == ("1", "0") or _without_date(left) != left else text


def _without_version(text: str) -> str:
    at = text.rfind("@")
    return text[:at] if at > text.rfind("/") else text


def _without_date(text: str) -> str:
    """`text` without its longest suffix that is a valid date of the years 2020 to 2039."""
    for suffix in _DATE_SUFFIXES:
        found = suffix.search(text)
        if found and _is_date(found.groupdict()):
            return text[: found.start()]
    return text


def _is_date(parts: dict[str, str | None]) -> bool:
    year = int(parts.get("y") or 2000 + int(parts.get("yy") or _LEAP_YEAR - 2000))
    if year not in _YEARS:
        return False
    try:
        date(year, int(parts["m"] or 0), int(parts.get("d") or 1))
    except ValueError:
        return False
    return True
