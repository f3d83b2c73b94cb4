"""Index: a snapshot's endpoints compiled for filtering, every fact as the set of endpoints that have it.

Endpoints stand in the order of their ids as UTF-8 bytes, so that their position is also the last tie-break and the
order in which they were given can have no effect. Everything remembered here dies with the index.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

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
from router_service.engine.glob import WILDCARD, matcher
from router_service.engine.model_id import ModelNames
from router_service.engine.needs import NeedSets
from router_service.engine.scoring import Scoring

_Key = TypeVar("_Key", bound=Hashable)


class Index:
    """The endpoints of one snapshot, immutable; see the module's docstring."""

    def __init__(self, endpoints: Iterable[Endpoint], pool_names: Iterable[str] = ()) -> None:
        """Raises InvalidValue where two endpoints share an id, or an alias does not mean exactly one model."""
        self.endpoints: tuple[Endpoint, ...] = tuple(sorted(endpoints, key=lambda one: one.endpoint_id.encode()))
        self.size = len(self.endpoints)
        self.everything = (1 << self.size) - 1
        self.position = {endpoint.endpoint_id: i for i, endpoint in enumerate(self.endpoints)}
        _refuse_repeated_ids(self.endpoints)
        self.models = ModelNames(self.endpoints, words.POOL_NAMES | {fold(name) for name in pool_names})
        self._compile_words()
        self._compile_numbers()
        self.scoring = Scoring(self.endpoints)
        self._policies: Bounded[int, PolicySets] = Bounded(1024)
        self._regions: Bounded[str, int] = Bounded(1024)
        self.usable_slugs: Bounded[PolicySets, list[str]] = Bounded(1024)
        self.answers: Bounded[tuple[PolicySets, RouteRequest, int], Decision | Refusal] = Bounded(2048)

    def _compile_words(self) -> None:
        self.classes = self._grouped(lambda one: [one.sovereignty])
        self.outside_residency = {
            residency: self._where(partial(_is_outside, residency)) for residency in words.RESIDENCIES
        }
        self.by_slug = self._grouped(lambda one: [one.model])
        self.catalog_only = self._where(lambda one: one.kind == words.CATALOG_ONLY)
        self.partners = self._where(lambda one: one.kind == words.PARTNER)
        self.unroutable = self._where(lambda one: one.status not in words.ROUTABLE_STATUSES)
        self.unknown_status = self._where(lambda one: one.status == words.UNKNOWN)
        self.not_text = self._where(lambda one: one.model_type != words.TEXT)
        self.without_tools = self._where(lambda one: not one.tools)
        takes = self._grouped(lambda one: one.input_modalities)
        self.lacking = {word: self.everything & ~takes.get(word, 0) for word in words.MODALITIES}
        self.below_level = {
            asked: self._where(partial(_is_below, level)) for level, asked in enumerate(words.STRUCTURED_OUTPUTS)
        }
        self.by_model_class = self._grouped(lambda one: one.model_classes)
        self._by_provider = self._grouped(lambda one: [fold(one.provider)])
        self._by_place = self._grouped(lambda one: [(one.country, fold(one.region))])

    def _compile_numbers(self) -> None:
        self.windows = self._sorted(lambda one: one.context_window)
        self.output_limits = self._sorted(lambda one: one.max_output_tokens)
        # 3 × input + output: four times the blended price, so that the ceiling is compared in integers.
        self.blended = self._sorted(blended_by_four)
        self.retirements = self._sorted(lambda one: one.retires_at)
        self.suppressions = self._sorted(lambda one: one.suppressed_until)
        self._instants = sorted(
            instant
            for one in self.endpoints
            for instant in (one.retires_at, one.suppressed_until)
            if instant is not None
        )
        self.costs = CostSets(self.endpoints)
        self.needs = NeedSets(self.endpoints)

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

    def _where(self, test: Callable[[Endpoint], bool]) -> int:
        return bitset((i for i, endpoint in enumerate(self.endpoints) if test(endpoint)), self.size)

    def _grouped(self, keys: Callable[[Endpoint], Iterable[_Key]]) -> dict[_Key, int]:
        groups: dict[_Key, list[int]] = defaultdict(list)
        for position, endpoint in enumerate(self.endpoints):
            for key in keys(endpoint):
                groups[key].append(position)
        return {key: bitset(members, self.size) for key, members in groups.items()}

    def _sorted(self, fact: Callable[[Endpoint], int | None]) -> PrefixSets:
        facts = ((fact(endpoint), position) for position, endpoint in enumerate(self.endpoints))
        return PrefixSets(((value, position) for value, position in facts if value is not None), self.size)


def blended_by_four(endpoint: Endpoint) -> int | None:
    """Four times the blended price, in millionths: 3 × input + output; None unless both prices are documented."""
    if endpoint.input_price is None or endpoint.output_price is None:
        return None
    return 3 * endpoint.input_price + endpoint.output_price


def _is_outside(residency: str, endpoint: Endpoint) -> bool:
    return not residency_admits(residency, endpoint.sovereignty)


def _is_below(level: int, endpoint: Endpoint) -> bool:
    return words.STRUCTURED_OUTPUTS.index(endpoint.structured_output) < level


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
