"""Load: what callers ask for, with what any router may do about it. The same for every strategy and scenario of a seed.

Token counts are real (benchmarks/requests.py); tasks, languages, policies and deadlines are drawn.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice

from benchmarks.requests import shapes
from router_service.catalog.load import load
from router_service.catalog.snapshot import Snapshot
from router_service.cli.options import example_catalog
from router_service.domain import reasons
from router_service.domain.decision import Decision
from router_service.domain.request import RouteRequest
from router_service.engine.bits import positions
from router_service.engine.decide import select
from router_service.engine.filters import first_reasons

NOON = 1_796_040_000_000  # 2026-11-30T12:00:00Z, the day of the example catalogue

TASKS = {"general": 40, "coding": 15, "summarisation": 15, "retrieval": 10, "multilingual": 10, "cheap": 10}
LANGUAGES = {"": 30, "de": 25, "en": 20, "fr": 15, "pl": 10}
POLICIES = {"eu-hosted": 65, "eu-owned-strict": 15, "global": 15, "cost-controlled": 5}
# (up to so many expected tokens, deadline in ms): a caller waits longer for a longer answer.
DEADLINES = ((200, 10_000), (500, 20_000), (1_000, 30_000), (10**6, 60_000))
_LEFT = (0.8, 1.0)  # the share of it that is left when the request comes
_CAPS = (256, 512, 1_024, 2_048, 4_096)
# A caller's forecast of an answer's length is right within a fifth or so.
_FORECAST_SIGMA = 0.2


@dataclass(frozen=True, slots=True)
class Operation:
    """One request; `after` is when it comes, counted in mean gaps between two.

    `allowed` are the endpoints that its policy and it itself admit whatever is known of them. By the catalogue alone,
    `admitted` are the positions of those that can meet its deadline too, and `at_rest` is the decision.
    """

    number: int
    after: float
    policy_id: str
    request: RouteRequest
    output_tokens: int
    allowed: frozenset[str]
    admitted: int
    at_rest: Decision

    def at_ms(self, rate: int) -> int:
        """When it comes at so many a second, from when the first one is awaited."""
        return round(1000 * self.after / rate)


@cache
def catalogue() -> Snapshot:
    """The example catalogue that comes with the service, without endpoints whose price is not documented.

    What an answer of those costs could not be told.
    """
    content = load(example_catalog())
    priced = tuple(one for one in content.endpoints if one.input_price is not None and one.output_price is not None)
    return Snapshot.of(replace(content, endpoints=priced), NOON)


def operations(seed: int, count: int) -> tuple[Operation, ...]:
    """The first `count` of a seed."""
    found, more = _stream(seed)
    found += islice(more, max(0, count - len(found)))
    return tuple(found[:count])


@lru_cache(maxsize=1)
def _stream(seed: int) -> tuple[list[Operation], Iterator[Operation]]:
    """Those of a seed that were drawn, and all that come after them."""
    return [], _operations(random.Random(seed))


def _operations(rng: random.Random) -> Iterator[Operation]:
    """Requests without end: of those that are drawn, the ones that some endpoint can serve in time."""
    rows, snapshot = shapes()[1], catalogue()
    number, after = 0, 0.0
    while True:
        after += rng.expovariate(1)
        policy_id, request, tokens = _drawn(rng, *rng.choice(rows))
        selection = select(snapshot.index, snapshot.policies[policy_id], request, NOON)
        if not isinstance(selection.result, Decision):
            continue
        refused, survivors = first_reasons(selection.case, selection.pool)
        allowed = _ids(survivors | refused.get(reasons.DEADLINE_UNREACHABLE, 0))
        yield Operation(number, after, policy_id, request, tokens, allowed, survivors, selection.result)
        number += 1


@cache
def _ids(bits: int) -> frozenset[str]:
    return frozenset(catalogue().index.endpoints[position].endpoint_id for position in positions(bits))


def _drawn(rng: random.Random, tokens_in: int, tokens_out: int) -> tuple[str, RouteRequest, int]:
    """(policy, request, tokens of the answer that will come)."""
    tokens_out = max(tokens_out, 1)
    expected = max(1, round(tokens_out * rng.lognormvariate(0, _FORECAST_SIGMA)))
    longest = max(tokens_out, expected)
    deadline = next(deadline for most, deadline in DEADLINES if expected <= most)
    request = RouteRequest.read(
        {
            "task": _one_of(rng, TASKS),
            "language": _one_of(rng, LANGUAGES),
            "input_tokens": tokens_in,
            "output_tokens": next((cap for cap in _CAPS if cap >= longest), longest),
            "expected_output_tokens": expected,
            "deadline_ms": round(deadline * rng.uniform(*_LEFT)),
        }
    )
    return _one_of(rng, POLICIES), request, tokens_out


def _one_of(rng: random.Random, weights: Mapping[str, int]) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]
