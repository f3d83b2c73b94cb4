"""The total order of what survives, by score and what breaks its ties (docs/decision.md, The score)."""

from __future__ import annotations

import weakref
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import msgspec

from router_service.domain.decision import TERMS, Score, Standing, Term
from router_service.domain.endpoint import Endpoint
from router_service.domain.request import RouteRequest
from router_service.engine.bits import positions
from router_service.engine.cache import Bounded
from router_service.engine.ordered import Members, Ordered
from router_service.engine.scales import latency_scale_of, price_scale_of
from router_service.engine.scoring import (
    SCALE,
    SOVEREIGNTY,
    WEIGHTS,
    documentation,
    language_fit,
    task_fit,
    weighted,
)
from router_service.engine.time_budget import SEARCHED

SIXTEENTHS = 16
_DEFAULT_SHARE = 4  # sixteenths of output where a request does not say both counts
_FIRST = 3  # most lists go no further
# Two weighted terms are each rounded to a whole 10⁻⁹; a score in doubles is nearer to the exact one than this.
_ROUNDING = 4


_WEIGHTS = tuple(WEIGHTS[name] for name in TERMS)
_Key = tuple[int, bool, int, int, int]


class Ask(msgspec.Struct, frozen=True):
    """What the score takes from a request: a task and a language that an index can tell apart, and the token mix.

    `output_share` is the share of output in all tokens, in sixteenths.
    """

    task: str
    language: str
    output_share: int


class Steady(msgspec.Struct, frozen=True):
    """Every endpoint's sum of those weighted terms that no report and no other survivor changes.

    It is `base` with the bonuses, pairs of a weight and the set of those that get it. `order` is by `base`, most first,
    and so it is of any that get the same bonuses.
    """

    base: Sequence[int]
    order: Ordered
    bonuses: tuple[tuple[int, int], ...]

    def groups(self, survivors: int) -> list[tuple[int, int]]:
        """The survivors by what they get beside their base, most first: pairs of that sum and a set."""
        found = [(0, survivors)]
        for weight, bits in self.bonuses:
            split = [((total + weight, one & bits), (total, one & ~bits)) for total, one in found]
            found = [part for both in split for part in both if part[1]]
        return sorted(found, reverse=True)


class Facts(Protocol):
    """What a ranking needs of its index; see rankings.Rankings."""

    endpoints: Sequence[Endpoint]
    prices: list[tuple[int, int] | None]
    latencies: list[int]
    errors: list[int]

    def steady(self, ask: Ask) -> Steady: ...
    def mix_price(self, position: int, output_share: int) -> int | None: ...
    def by_mix_price(self, output_share: int) -> Ordered: ...
    def by_latency(self) -> Ordered: ...


class Ranking:
    """The order of a set of survivors, best first, and what its scores are made of.

    Unless it is `whole`, it is worked out as far as it is asked for, and no further than a failover list may look.
    """

    __slots__ = ("_ask", "_index", "_latencies", "_prices", "_standings", "_survivors", "order")

    def __init__(self, facts: Facts, survivors: int, ask: Ask, *, whole: bool = False) -> None:
        # Weak: what remembers a ranking must not be kept by it, so that an old index goes as soon as nobody uses it.
        self._index = weakref.ref(facts)
        self._ask, self._survivors = ask, survivors
        self._standings: Bounded[int, Standing] = Bounded(SEARCHED)
        members = Members(survivors, len(facts.endpoints))
        by_price, by_latency = facts.by_mix_price(ask.output_share), facts.by_latency()
        ends = (by_price.first(members), by_price.last(members))
        prices = (None if one is None else facts.mix_price(one, ask.output_share) for one in ends)
        self._prices = price_scale_of([price for price in prices if price is not None])
        ends = (by_latency.first(members), by_latency.last(members))
        self._latencies = latency_scale_of([facts.latencies[one] for one in ends if one is not None])
        best = self._all() if whole else self._best(_FIRST)
        self.order: tuple[int, ...] = tuple(key[-1] for key in best)

    @property
    def _facts(self) -> Facts:
        facts = self._index()
        assert facts is not None, "a ranking is of an index that somebody holds"  # noqa: S101 - a fault of the engine's
        return facts

    def walk(self) -> Iterator[int]:
        """The positions in order, at least as many as a failover list may look at."""
        known = self.order
        yield from known
        if len(known) == _FIRST:
            best = self._best(SEARCHED)
            self.order = tuple(key[-1] for key in best)
            yield from self.order[_FIRST:]

    def _keys(self) -> Callable[[int, int], _Key]:
        """A function from a position and its steady sum to what it is ordered by, with all that it needs at hand.

        Score, higher first; mix price, absent last; latency; position.
        """
        share = self._ask.output_share
        prices, latencies, errors = self._facts.prices, self._facts.latencies, self._facts.errors
        price_scale, latency_scale = self._prices, self._latencies
        cheapest, dearest, price_span = price_scale.low, price_scale.high, price_scale.span
        fastest, latency_span = latency_scale.low, latency_scale.span
        price_weight, latency_weight, input_share = WEIGHTS["price"], WEIGHTS["latency"], SIXTEENTHS - share

        def key(position: int, steady: int) -> _Key:
            both, latency = prices[position], latencies[position]
            price = dearest if both is None else input_share * both[0] + share * both[1]
            total = (
                steady
                + errors[position]
                + weighted(price_weight * ((price - cheapest) / price_span))
                + weighted(latency_weight * ((latency - fastest) / latency_span))
            )
            return -total, both is None, 0 if both is None else price, latency, position

        return key

    def _all(self) -> list[_Key]:
        """All of them."""
        steady, key_of = self._facts.steady(self._ask), self._keys()
        groups = steady.groups(self._survivors)
        return sorted(key_of(one, steady.base[one] + bonus) for bonus, bits in groups for one in positions(bits))

    def _best(self, most: int) -> list[_Key]:
        """The first `most`, without looking at all.

        Price, latency and errors only ever take from a score. So, down the order of what does not depend on them, once
        that alone is below the worst of `most` scores, nothing that follows can be among them. And a score that is
        clearly below, in doubles, need not be worked out exactly.
        """
        share, steady, key_of = self._ask.output_share, self._facts.steady(self._ask), self._keys()
        base, walk, size = steady.base, steady.order.walk, len(self._facts.endpoints)
        prices, input_share = self._facts.prices, SIXTEENTHS - share
        price_slope = -WEIGHTS["price"] * SCALE / self._prices.span
        latency_slope = -WEIGHTS["latency"] * SCALE / self._latencies.span
        cheapest, dearest, fastest = self._prices.low, self._prices.high, self._latencies.low
        errors, latencies = self._facts.errors, self._facts.latencies
        found: list[_Key] = []
        worst: float = float("-inf")
        for bonus, bits in steady.groups(self._survivors):
            for position in walk(Members(bits, size)):
                alone = base[position] + bonus
                if alone < worst:
                    break
                both = prices[position]
                price = dearest if both is None else input_share * both[0] + share * both[1]
                near = (
                    alone
                    + errors[position]
                    - price_slope * (price - cheapest)
                    - latency_slope * (latencies[position] - fastest)
                )
                if near < worst - _ROUNDING:
                    continue
                insort(found, key_of(position, alone))
                if len(found) >= most:
                    del found[most:]
                    worst = -found[-1][0]
        return found

    def standing(self, position: int) -> Standing:
        """One survivor with its score, term by term."""
        standing = self._standings.get(position)
        if standing is None:
            standing = Standing(self._facts.endpoints[position], self._score(position))
            self._standings[position] = standing
        return standing

    def _score(self, position: int) -> Score:
        endpoint, ask = self._facts.endpoints[position], self._ask
        price = self._facts.mix_price(position, ask.output_share)
        raw = (
            task_fit(endpoint, ask.task),
            language_fit(endpoint, ask.language),
            documentation(endpoint),
            SOVEREIGNTY.get(endpoint.sovereignty, 0.0),
            self._prices.raw(self._prices.high if price is None else price),
            self._latencies.raw(self._facts.latencies[position]),
            endpoint.error_rate or 0.0,
        )
        terms = tuple([Term(value, weighted(weight * value)) for weight, value in zip(_WEIGHTS, raw, strict=True)])
        return Score(sum([term.weighted for term in terms]), terms)


def output_share(request: RouteRequest) -> int:
    """The share of output tokens in all tokens, in sixteenths, to the nearest (ties up); 4 where either is unknown."""
    tokens_in, tokens_out = request.input_tokens, request.output_tokens
    if tokens_in is None or tokens_out is None or not tokens_in + tokens_out:
        return _DEFAULT_SHARE
    total = tokens_in + tokens_out
    return (2 * SIXTEENTHS * tokens_out + total) // (2 * total)
