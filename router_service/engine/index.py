"""Index: a snapshot's endpoints compiled for filtering, every fact as the set of endpoints that have it.

Endpoints stand in the order of their ids as UTF-8 bytes, so that their position is also the last tie-break and the
order in which they were given can have no effect. Everything remembered here dies with the index.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from router_service.domain import words
from router_service.domain.decision import Decision, Refusal
from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import Policy, residency_admits
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.request import RouteRequest
from router_service.domain.text import fold
from router_service.engine.bits import PrefixSets, bitset
from router_service.engine.cache import Bounded
from router_service.engine.cost import CostSets
from router_service.engine.entries import PolicySets, compile_policy, region_test
from router_service.engine.facts import Facts
from router_service.engine.glob import WILDCARD, matcher
from router_service.engine.model_id import ModelNames
from router_service.engine.needs import NeedSets
from router_service.engine.rankings import Rankings

ANSWERS = 2048  # remembered of one index
# The facts that observation may change between two versions of a catalogue.
CHANGING = ("status", "suppressed_until", "latency_ms", "error_rate")


class Index:
    """The endpoints of one snapshot, immutable; see the module's docstring."""

    def __init__(self, endpoints: Iterable[Endpoint], pool_names: Iterable[str] = ()) -> None:
        """Raises InvalidValue where two endpoints share an id, or an alias does not mean exactly one model."""
        for _ in self.compile(endpoints, pool_names):
            pass

    @classmethod
    def in_slices(cls, endpoints: Iterable[Endpoint], pool_names: Iterable[str] = ()) -> Generator[None, None, Index]:
        """The same, made bit by bit: a generator that returns the index, for whoever has other work to do between."""
        index = cls.__new__(cls)
        yield from index.compile(endpoints, pool_names)
        return index

    def compile(self, endpoints: Iterable[Endpoint], pool_names: Iterable[str]) -> Iterator[None]:
        """Compiles an instance that was made without it; each step is a slice of at most some milliseconds."""
        self.endpoints: tuple[Endpoint, ...] = tuple(sorted(endpoints, key=lambda one: one.endpoint_id.encode()))
        self.size = len(self.endpoints)
        yield
        self.everything = (1 << self.size) - 1
        self.position = {endpoint.endpoint_id: i for i, endpoint in enumerate(self.endpoints)}
        yield
        _refuse_repeated_ids(self.endpoints)
        yield
        self.models = ModelNames.__new__(ModelNames)
        yield from self.models.compile(self.endpoints, words.POOL_NAMES | {fold(name) for name in pool_names})
        facts = Facts(self.endpoints)
        yield from facts.gather()
        self._take_sets(facts)
        self.costs = CostSets(self.endpoints, facts.positions["prices"])
        yield from self.costs.compile()
        self.needs = NeedSets(self.endpoints, facts.positions["speed"])
        yield from self.needs.compile()
        self.rankings = Rankings(self.endpoints, facts.sets["tag"], facts.sets["language"])
        yield from self.rankings.compile()
        self._policies: Bounded[int, PolicySets] = Bounded(1024)
        self._regions: Bounded[str, int] = Bounded(1024)
        self.usable_slugs: Bounded[PolicySets, list[str]] = Bounded(1024)
        self.answers: Bounded[tuple[PolicySets, RouteRequest, int, object], Decision | Refusal] = Bounded(ANSWERS)

    def overlaid(self, changed: Mapping[str, Endpoint]) -> Generator[None, None, Index]:
        """This index with other figures: a generator that returns it, in slices.

        `changed` holds endpoints by their ids that differ in `CHANGING` alone. Every other set is shared, and so is
        what was remembered of them; answers and rankings are not, since they may be others now.
        """
        other = Index.__new__(Index)
        other.__dict__.update(self.__dict__)
        changes = {self.position[one]: endpoint for one, endpoint in changed.items()}
        endpoints = list(self.endpoints)
        for position, endpoint in changes.items():
            endpoints[position] = endpoint
        other.endpoints = tuple(endpoints)
        at = bitset(changes, self.size)
        routable = bitset((i for i, one in changes.items() if one.status in words.ROUTABLE_STATUSES), self.size)
        unknown = bitset((i for i, one in changes.items() if one.status == words.UNKNOWN), self.size)
        other.unroutable = self.unroutable & ~at | at & ~routable
        other.unknown_status = self.unknown_status & ~at | unknown
        yield
        ends = ((one.suppressed_until, i) for i, one in enumerate(endpoints) if one.suppressed_until is not None)
        other.suppressions = PrefixSets(ends, self.size)
        yield from other.suppressions.compile()
        other._instants = sorted((*other.retirements.values, *other.suppressions.values))  # noqa: SLF001 - its own kind
        other.needs = yield from self.needs.overlaid(other.endpoints, changes)
        yield
        other.rankings = yield from self.rankings.overlaid(other.endpoints, changes)
        other.answers = Bounded(ANSWERS)
        return other

    def _take_sets(self, facts: Facts) -> None:
        """The sets that rules look at, by what they are to a rule."""
        sets, prefixes = facts.sets, facts.prefixes
        self.classes: dict[str, int] = sets["class"]
        self.outside_residency = {
            residency: _union(bits for one, bits in self.classes.items() if not residency_admits(residency, one))
            for residency in words.RESIDENCIES
        }
        self.by_slug: dict[str, int] = sets["slug"]
        self.catalog_only = sets["kind"].get(words.CATALOG_ONLY, 0)
        self.partners = sets["kind"].get(words.PARTNER, 0)
        self.unroutable = _union(
            bits for status, bits in sets["status"].items() if status not in words.ROUTABLE_STATUSES
        )
        self.unknown_status = sets["status"].get(words.UNKNOWN, 0)
        self.not_text = self.everything & ~sets["type"].get(words.TEXT, 0)
        self.without_tools = sets["tools"].get(False, 0)
        self.lacking = {word: self.everything & ~sets["modality"].get(word, 0) for word in words.MODALITIES}
        self.below_level = {
            asked: _union(sets["level"].get(lower, 0) for lower in words.STRUCTURED_OUTPUTS[:level])
            for level, asked in enumerate(words.STRUCTURED_OUTPUTS)
        }
        self.by_model_class: dict[str, int] = sets["model_class"]
        self._by_provider: dict[str, int] = sets["provider"]
        self._by_place: dict[tuple[str, str], int] = sets["place"]
        self.windows, self.output_limits = prefixes["window"], prefixes["output_limit"]
        self.blended = prefixes["blended"]
        self.retirements, self.suppressions = prefixes["retirement"], prefixes["suppression"]
        self._instants = sorted((*self.retirements.values, *self.suppressions.values))

    def sets_of(self, policy: Policy) -> PolicySets:
        """The policy compiled for this index; remembered for as long as the policy itself is held."""
        known = self._policies.get(id(policy))
        if known is None or known.policy is not policy:
            known = self._policies[id(policy)] = compile_policy(self, policy)
        return known

    def epoch(self, now: int) -> int:
        """How many instants at which an endpoint retires or comes back have passed: within an epoch no time matters."""
        return bisect_right(self._instants, now)

    def in_region(self, entry: str) -> int:
        """The endpoints that a region entry matches."""
        if entry not in self._regions:
            test = region_test(entry)
            self._regions[entry] = _union(bits for place, bits in self._by_place.items() if test(*place))
        return self._regions[entry]

    def by_provider(self, entry: str) -> int:
        """The endpoints that a provider entry matches; an undocumented provider matches none."""
        matches = matcher(entry)
        return _union(bits for provider, bits in self._by_provider.items() if matches(provider))

    def by_model(self, entry: str, *, approximate: bool) -> int:
        """The endpoints that a model entry matches; one that resolves only approximately does so where allowed."""
        if WILDCARD in entry:
            matches = matcher(entry)
            return _union(
                self.by_slug[slug] for slug in self.models.slugs if any(map(matches, self.models.names(slug)))
            )
        resolution = self.models.resolve(fold(entry))
        if resolution is None or (resolution.approximate and not approximate):
            return 0
        return self.by_slug[resolution.slug]

    def at(self, endpoint_ids: Iterable[str]) -> int:
        """The set of the endpoints with these ids; ids that nobody has are nobody's."""
        return bitset((self.position[one] for one in endpoint_ids if one in self.position), self.size)


def _union(sets: Iterable[int]) -> int:
    union = 0
    for bits in sets:
        union |= bits
    return union


def _refuse_repeated_ids(endpoints: Sequence[Endpoint]) -> None:
    repeated = sorted({one.endpoint_id for one, after in pairwise(endpoints) if one.endpoint_id == after.endpoint_id})
    if repeated:
        raise InvalidValue(
            "endpoints",
            [
                Problem("endpoint_id", f'"{one}" is used twice', "give every endpoint an id of its own")
                for one in repeated
            ],
        )
