"""Check: every problem of a catalogue, and what loads but can hardly be meant, each with file, line and cure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import msgspec

from router_service.catalog.content import Content
from router_service.catalog.entry_warnings import useless_entries
from router_service.catalog.load import Loaded, load_written
from router_service.catalog.located import CatalogInvalid, Located, in_order
from router_service.catalog.regions import Place, locate
from router_service.domain import reasons, words
from router_service.domain.places import EU, SEVERAL_EU
from router_service.domain.policy import Policy
from router_service.domain.problems import Problem
from router_service.domain.request import RouteRequest
from router_service.engine.bits import positions
from router_service.engine.case import make_case
from router_service.engine.filters import RULES
from router_service.engine.index import Index

# Rules that time may turn: what they alone refuse today is reachable tomorrow.
_PASSING = frozenset((reasons.STATUS_NOT_ROUTABLE, reasons.CIRCUIT_OPEN))

_SPREAD = {"": "spread over several countries", SEVERAL_EU: "spread over the EU"}


@dataclass(frozen=True, slots=True)
class Report:
    """What is wrong with a catalogue, and what is odd about it; `content` is None where it cannot be served."""

    problems: tuple[Located, ...]
    warnings: tuple[Located, ...]
    content: Content | None


def check(path: Path, now: int) -> Report:
    """Loads a catalogue and looks at it; `now` in ms. Warnings need a catalogue that loads."""
    try:
        loaded = load_written(path)
    except CatalogInvalid as invalid:
        return Report(invalid.problems, (), None)
    view = _View(loaded, now)
    found = [one for warnings in _WARNINGS for one in warnings(view)]
    return Report((), in_order(found, loaded.files), loaded.content)


class _View:
    """A loaded catalogue as the engine sees it."""

    def __init__(self, loaded: Loaded, now: int) -> None:
        self.loaded = loaded
        self.now = now
        self.index = Index(loaded.content.endpoints, loaded.content.pool_names)

    @cached_property
    def standing(self) -> list[tuple[Policy, dict[str, int], int]]:
        """For each policy: the endpoints that it can never reach, by reason, and those that it can."""
        # An empty request: the rules of a request's own contract refuse nothing.
        return [(policy, *self.standing_of(policy, RouteRequest())) for policy in self.loaded.content.policies]

    def standing_of(self, policy: Policy, request: RouteRequest) -> tuple[dict[str, int], int]:
        """The endpoints that a request can never reach under a policy, by reason, and those that it can."""
        sets = self.index.sets_of(policy)
        case = make_case(self.index, sets, request, self.now, policy.effective_residency(request.residency))
        refused: dict[str, int] = {}
        left = self.index.everything
        for rule in RULES:
            if rule.reason not in _PASSING:
                refused[rule.reason] = left & rule.refuses(case)
                left ^= refused[rule.reason]
        return refused, left

    @property
    def without_endpoint(self) -> list[str]:
        """The models that no endpoint offers."""
        return [slug for slug in self.loaded.models if slug not in self.index.by_slug]


def _useless_entries(view: _View) -> Iterator[Located]:
    for policy in view.loaded.content.policies:
        written = view.loaded.policies[policy.policy_id]
        for name, entry, problem in useless_entries(view.index, policy, view.without_endpoint):
            yield written.located(problem.under(written.place_in(name, entry)))


def _unreachable(view: _View) -> Iterator[Located]:
    out_of_reach = view.index.everything & ~view.index.catalog_only & ~view.index.not_text
    for _, _, reached in view.standing:
        out_of_reach &= ~reached
    for position in positions(out_of_reach):
        why = Counter(
            reason for _, refused, _ in view.standing for reason, bits in refused.items() if bits >> position & 1
        )
        under = ", ".join(f"{reason} under {count} of {len(view.standing)}" for reason, count in why.most_common())
        message = f"no policy can ever reach it: {under}"
        written = view.loaded.endpoints[view.index.endpoints[position].endpoint_id]
        yield written.located(Problem("", message, "widen a policy deliberately, or write kind: catalog-only"))


def _idle_policies(view: _View) -> Iterator[Located]:
    classes = view.index.classes
    inside = classes.get(words.EU_OWNED, 0) | classes.get(words.EU_HOSTED, 0)
    for policy, refused, reached in view.standing:
        written = view.loaded.policies[policy.policy_id]
        if not reached:
            counts = ", ".join(f"{bits.bit_count()} {reason}" for reason, bits in refused.items() if bits)
            message = f"admits no endpoint of the catalogue: {counts}"
            yield written.located(Problem("", message, "widen it, or list an endpoint that it admits"))
        elif not reached & inside and not words.EU_CLASSES.isdisjoint(policy.residency):
            message = "lists an EU class and admits no endpoint in the EU/EEA"
            yield written.located(Problem("", message, "list one that it admits, or write residency: [global]"))


def _idle_workloads(view: _View) -> Iterator[Located]:
    for workload in view.loaded.content.workloads:
        request = workload.needs.alone
        if request.input_tokens is None:
            # Its requests will say; until then no cost is known.
            request = msgspec.structs.replace(request, max_cost=None)
        if not any(view.standing_of(policy, request)[1] for policy in view.loaded.content.policies):
            widest, _, _ = max(view.standing, key=lambda one: one[2].bit_count())
            refused, _ = view.standing_of(widest, request)
            counts = ", ".join(f"{bits.bit_count()} {reason}" for reason, bits in refused.items() if bits)
            message = f"no endpoint can serve it under any policy: under {widest.policy_id}, the widest, {counts}"
            written = view.loaded.workloads[workload.label]
            yield written.located(Problem("", message, "ask for less, or list an endpoint that can serve it"))


def _models_without_endpoint(view: _View) -> Iterator[Located]:
    for slug in view.without_endpoint:
        problem = Problem("", "no endpoint offers it", "list an endpoint of it, or remove the model")
        yield view.loaded.models[slug].located(problem)


def _misplaced(view: _View) -> Iterator[Located]:
    for endpoint in view.index.endpoints:
        place = locate(endpoint.region, endpoint.provider) if endpoint.region and endpoint.country else None
        if place and not _agree(place, endpoint.country):
            where = _SPREAD.get(place.country, f"in {place.country}")
            cure = f"write country: {place.country}" if place.country else "leave the country out"
            message = f"{endpoint.country}, but region {endpoint.region} is {where}"
            written = view.loaded.endpoints[endpoint.endpoint_id]
            yield written.located(Problem("country", message, f"{cure}, and a class of sovereignty that fits"))


def _agree(place: Place, country: str) -> bool:
    """Whether an endpoint may say `country` of a place. One of them may be wider, as an EU data zone is."""
    if SEVERAL_EU in (place.country, country):
        return {place.country, country} <= EU | {SEVERAL_EU}
    return place.country == country


def _retired(view: _View) -> Iterator[Located]:
    for endpoint in view.index.endpoints:
        if endpoint.retires_at is not None and endpoint.retires_at <= view.now:
            since = datetime.fromtimestamp(endpoint.retires_at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            written = view.loaded.endpoints[endpoint.endpoint_id]
            problem = Problem("retires_at", f"retired since {since}", "remove the endpoint, or correct the date")
            yield written.located(problem)


_WARNINGS: tuple[Callable[[_View], Iterator[Located]], ...] = (
    _useless_entries,
    _unreachable,
    _idle_policies,
    _idle_workloads,
    _models_without_endpoint,
    _misplaced,
    _retired,
)
