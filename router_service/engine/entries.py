"""What the entries of a policy's or a request's lists match (docs/decision.md, Vocabulary: policies)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from router_service.domain.decision import Match
from router_service.domain.endpoint import Endpoint
from router_service.domain.places import EEA, EU
from router_service.domain.policy import Policy
from router_service.domain.text import fold
from router_service.engine.glob import WILDCARD, matcher

if TYPE_CHECKING:
    from router_service.engine.index import Index

# Entries that stand for several countries; a region spread over several EU countries has the country EU itself.
_COUNTRY_GROUPS = {"EU": EU | {"EU"}, "EEA": EEA | {"EU"}}


@dataclass(frozen=True, slots=True)
class EntryList:
    """One list of a policy against an index: the endpoints that each entry matches, and those that any does."""

    name: str
    entries: tuple[tuple[str, int], ...]
    matched: int = field(init=False)

    def __post_init__(self) -> None:
        matched = 0
        for _, bits in self.entries:
            matched |= bits
        object.__setattr__(self, "matched", matched)

    def first_match(self, position: int) -> str | None:
        """The first entry that matches the endpoint at `position`."""
        return next((entry for entry, bits in self.entries if bits >> position & 1), None)


@dataclass(frozen=True, slots=True, eq=False)
class PolicySets:
    """A policy compiled for one index: its lists, and the endpoints that each of its rules refuses.

    One of a kind, so that it is known by its identity.
    """

    policy: Policy
    regions: EntryList
    provider_deny: EntryList
    provider_allow: EntryList
    model_deny: EntryList
    model_allow: EntryList
    refused_class: int
    refused_region: int
    provider_not_allowed: int
    model_not_allowed: int
    partner_not_enabled: int

    @property
    def lists(self) -> tuple[EntryList, ...]:
        """All lists, in the order of the filter."""
        return (self.regions, self.provider_deny, self.provider_allow, self.model_deny, self.model_allow)


def compile_policy(index: Index, policy: Policy) -> PolicySets:
    """The sets of endpoints that each list and rule of the policy stands for in this index."""

    def entry_list(name: str, entries: Iterable[str], match: Callable[[str], int]) -> EntryList:
        return EntryList(name, tuple((entry, match(entry)) for entry in entries))

    def not_in(listed: EntryList) -> int:
        return index.everything & ~listed.matched if listed.entries else 0

    regions = entry_list("regions", policy.regions, index.in_region)
    provider_deny = entry_list("provider_deny", policy.provider_deny, index.by_provider)
    provider_allow = entry_list("provider_allow", policy.provider_allow, index.by_provider)
    model_deny = entry_list("model_deny", policy.model_deny, lambda entry: index.by_model(entry, approximate=True))
    model_allow = entry_list("model_allow", policy.model_allow, lambda entry: index.by_model(entry, approximate=False))
    admitted = 0
    for sovereignty, bits in index.classes.items():
        if policy.admits_class(sovereignty):
            admitted |= bits
    return PolicySets(
        policy=policy,
        regions=regions,
        provider_deny=provider_deny,
        provider_allow=provider_allow,
        model_deny=model_deny,
        model_allow=model_allow,
        refused_class=index.everything & ~admitted,
        refused_region=not_in(regions),
        provider_not_allowed=not_in(provider_allow),
        model_not_allowed=not_in(model_allow),
        partner_not_enabled=0 if policy.partner_endpoints else index.partners,
    )


def region_test(entry: str) -> Callable[[str, str], bool]:
    """A test of (country, folded region id) against a region entry.

    Two letters are a country (`EU` its 27 and the spread-out one), `EEA` adds three more; anything else is a region
    id. `DE` does not match the country `EU`: a spread-out region may be anywhere in it.
    """
    folded = fold(entry)
    code = folded.upper()
    if code in _COUNTRY_GROUPS:
        group = _COUNTRY_GROUPS[code]
        return lambda country, region: country in group
    if len(folded) == 2 and folded.isascii() and folded.isalpha():
        return lambda country, region: country == code
    matches = matcher(entry)
    return lambda country, region: matches(region)


def matches_of(index: Index, sets: PolicySets, position: int) -> tuple[Match, ...]:
    """For each list of the policy, its first entry that matches the endpoint, and by which name it does."""
    endpoint = index.endpoints[position]
    return tuple(
        Match(listed.name, entry, _matched_name(index, listed.name, entry, endpoint))
        for listed in sets.lists
        if (entry := listed.first_match(position)) is not None
    )


def _matched_name(index: Index, list_name: str, entry: str, endpoint: Endpoint) -> str:
    if list_name.startswith("provider"):
        return endpoint.provider
    if list_name.startswith("model"):
        if WILDCARD not in entry:
            resolution = index.models.resolve(fold(entry))
            return resolution.name if resolution else endpoint.model
        matches = matcher(entry)
        return next(name for name in index.models.names(endpoint.model) if matches(name))
    in_place = region_test(entry)
    return endpoint.country if in_place(endpoint.country, "") else endpoint.region
