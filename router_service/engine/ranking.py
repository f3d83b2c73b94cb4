"""The total order of what survives, by score and what breaks its ties (docs/decision.md, The score)."""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from router_service.domain import words
from router_service.domain.decision import TERMS, Score, Standing, Term
from router_service.domain.endpoint import Endpoint
from router_service.domain.languages import MANY
from router_service.domain.request import RouteRequest
from router_service.engine.bits import positions
from router_service.engine.cache import Bounded
from router_service.engine.facts import SLICE
from router_service.engine.scales import Members, latency_scale_of, price_scale_of
from router_service.engine.scoring import (
    FITS,
    OTHER_FIT,
    SOVEREIGNTY,
    WEIGHTS,
    documentation,
    is_multilingual,
    language_fit,
    task_fit,
    weighted,
)
from router_service.engine.time_budget import DEFAULT_LATENCY_MS, SEARCHED

_SIXTEENTHS = 16
_FEW = 256  # survivors up to which looking at all is as quick as being clever
_DEFAULT_SHARE = 4  # sixteenths of output where a request does not say both counts


_Key = tuple[int, bool, int, int, int]


class Ask(msgspec.Struct, frozen=True):
    """What the score takes from a request: a task and a language that this index can tell apart, and the token mix.

    `output_share` is the share of output in all tokens, in sixteenths.
    """

    task: str
    language: str
    output_share: int


class Rankings:
    """What scores need of an index's endpoints, and the rankings that were asked for."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        tags: Mapping[str, Sequence[int]],
        languages: Mapping[str, Sequence[int]],
    ) -> None:
        """`tags` and `languages` are the positions of the endpoints that have each. To be compiled before use."""
        self.endpoints = endpoints
        self._tags, self._languages = tags, languages
        self.prices: list[tuple[int, int] | None] = []
        self.latencies: list[int] = []
        self._own: list[int] = []
        self._fits: dict[str, list[int]] = {task: [] for task in FITS}
        self._steady: Bounded[tuple[str, str], list[int]] = Bounded(64)
        self._by_steady: Bounded[tuple[str, str], list[int]] = Bounded(64)
        self._by_mix_price: dict[int, list[tuple[int, int]]] = {}  # one for each sixteenth
        self._by_latency: list[tuple[int, int]] = []
        self._rankings: Bounded[tuple[int, Ask], Ranking] = Bounded(2048)

    def compile(self) -> Iterator[None]:
        """Works out what belongs to one endpoint alone, slice by slice."""
        task = WEIGHTS["task_fit"]
        for position, one in enumerate(self.endpoints):
            known = one.input_price is not None and one.output_price is not None
            self.prices.append((one.input_price or 0, one.output_price or 0) if known else None)
            self.latencies.append(_latency_of(one))
            self._own.append(_own_weight(one))
            for name, fit in FITS.items():
                self._fits[name].append(weighted(task * fit(one)))
            if position % SLICE == 0:
                yield

    def overlaid(self, endpoints: Sequence[Endpoint], changes: Collection[int]) -> Rankings:
        """The same for endpoints whose latencies and error rates differ at the positions of `changes`."""
        other = Rankings(endpoints, self._tags, self._languages)
        other.prices, other._fits = self.prices, self._fits
        other.latencies, other._own = self.latencies.copy(), self._own.copy()
        for position in changes:
            other.latencies[position] = _latency_of(endpoints[position])
            other._own[position] = _own_weight(endpoints[position])
        return other

    def ask(self, request: RouteRequest) -> Ask:
        """What of the request can make a difference here; tags and languages that nobody has are all the same."""
        task = words.TASK_ALIASES.get(request.task, request.task)
        language = request.language
        return Ask(
            task if task in FITS or task in self._tags else "",
            language if language in self._languages or language == MANY else "",
            output_share(request),
        )

    def best(self, survivors: int, ask: Ask) -> Ranking:
        """The first of the survivors in order, as many as a failover list may look at.

        The same set always ranks the same way, so it is worked out once.
        """
        found = self._rankings.get((survivors, ask))
        if found is None:
            found = self._rankings[survivors, ask] = Ranking(self, survivors, ask, SEARCHED)
        return found

    def whole(self, survivors: int, ask: Ask) -> Ranking:
        """All the survivors in order, for an explanation."""
        return Ranking(self, survivors, ask)

    def steady(self, ask: Ask) -> list[int]:
        """Each endpoint's sum of the weighted terms that do not depend on the other survivors."""
        key = (ask.task, ask.language)
        found = self._steady.get(key)
        if found is None:
            sums = zip(self._own, self._task_weights(ask.task), self._language_weights(ask.language), strict=True)
            found = self._steady[key] = [own + task + language for own, task, language in sums]
        return found

    def mix_price(self, position: int, output_share: int) -> int | None:
        """An endpoint's price by a mix of tokens, times 16; None unless both prices are documented."""
        prices = self.prices[position]
        if prices is None:
            return None
        return (_SIXTEENTHS - output_share) * prices[0] + output_share * prices[1]

    def by_mix_price(self, output_share: int) -> list[tuple[int, int]]:
        """(mix price, position) of the endpoints that document both prices, cheapest first."""
        found = self._by_mix_price.get(output_share)
        if found is None:
            prices = ((self.mix_price(i, output_share), i) for i in range(len(self.endpoints)))
            found = self._by_mix_price[output_share] = sorted((price, i) for price, i in prices if price is not None)
        return found

    def by_latency(self) -> list[tuple[int, int]]:
        """(latency, position) of all endpoints, fastest first."""
        if not self._by_latency:
            self._by_latency = sorted((latency, i) for i, latency in enumerate(self.latencies))
        return self._by_latency

    def by_steady(self, ask: Ask) -> list[int]:
        """The positions by what of their scores does not depend on the other survivors, most first."""
        key = (ask.task, ask.language)
        found = self._by_steady.get(key)
        if found is None:
            steady = self.steady(ask)
            found = self._by_steady[key] = sorted(range(len(steady)), key=steady.__getitem__, reverse=True)
        return found

    def latency(self, position: int) -> int:
        """An endpoint's time to the first token in ms, recorded or taken for granted."""
        return self.latencies[position]

    def _task_weights(self, task: str) -> list[int]:
        if task in self._fits:
            return self._fits[task]
        weights = [weighted(WEIGHTS["task_fit"] * OTHER_FIT)] * len(self.endpoints)
        for position in self._tags.get(task, ()):
            weights[position] = weighted(WEIGHTS["task_fit"] * 1.0)
        return weights

    def _language_weights(self, language: str) -> list[int]:
        strong = weighted(WEIGHTS["language_fit"] * 1.0)
        if language == MANY:
            return [strong if is_multilingual(one) else 0 for one in self.endpoints]
        weights = [0] * len(self.endpoints)
        for position in self._languages.get(language, ()):
            weights[position] = strong
        return weights


class Ranking:
    """The order of a set of survivors, best first, and what its scores are made of.

    `order` is the whole order, or its first `most` positions: a remembered ranking keeps only what a decision can use.
    """

    __slots__ = ("_ask", "_latencies", "_prices", "_rankings", "_standings", "order")

    def __init__(self, rankings: Rankings, survivors: int, ask: Ask, most: int | None = None) -> None:
        self._rankings, self._ask = rankings, ask
        self._standings: Bounded[int, Standing] = Bounded(SEARCHED)
        if most is None or survivors.bit_count() <= _FEW:
            members = list(positions(survivors))
            prices = [price for i in members if (price := rankings.mix_price(i, ask.output_share)) is not None]
            self._prices, self._latencies = (
                price_scale_of(prices),
                latency_scale_of([rankings.latency(i) for i in members]),
            )
            keys = map(self._keys(), members)
            best = sorted(keys) if most is None else heapq.nsmallest(most, keys)
        else:
            inside = Members(survivors)
            self._prices = price_scale_of(inside.ends(rankings.by_mix_price(ask.output_share)))
            self._latencies = latency_scale_of(inside.ends(rankings.by_latency()))
            best = self._first(inside, most)
        self.order: tuple[int, ...] = tuple(key[-1] for key in best)

    def _keys(self) -> Callable[[int], _Key]:
        """A function from positions to what they are ordered by, with all that it needs at hand.

        Score, higher first; mix price, absent last; latency; position.
        """
        share, steady = self._ask.output_share, self._rankings.steady(self._ask)
        prices, latencies = self._rankings.prices, self._rankings.latencies
        price_scale, latency_scale = self._prices, self._latencies
        cheapest, dearest, price_span = price_scale.low, price_scale.high, price_scale.span
        fastest, latency_span = latency_scale.low, latency_scale.span
        price_weight, latency_weight, input_share = WEIGHTS["price"], WEIGHTS["latency"], _SIXTEENTHS - share

        def key(position: int) -> _Key:
            both, latency = prices[position], latencies[position]
            price = dearest if both is None else input_share * both[0] + share * both[1]
            total = (
                steady[position]
                + weighted(price_weight * ((price - cheapest) / price_span))
                + weighted(latency_weight * ((latency - fastest) / latency_span))
            )
            return -total, both is None, 0 if both is None else price, latency, position

        return key

    def _first(self, inside: Members, most: int) -> list[_Key]:
        """The first `most`, without looking at all.

        Price and latency only ever take from a score. So, down the order of what does not depend on them, once that
        alone is below the worst of `most` scores, nothing that follows can be among them.
        """
        steady, key_of, found = self._rankings.steady(self._ask), self._keys(), list[_Key]()
        for position in self._rankings.by_steady(self._ask):
            if len(found) == most and -steady[position] > found[-1][0]:
                break
            if position in inside:
                key = key_of(position)
                if len(found) < most or key < found[-1]:
                    insort(found, key)
                    del found[most:]
        return found

    def standing(self, position: int) -> Standing:
        """One survivor with its score, term by term."""
        standing = self._standings.get(position)
        if standing is None:
            standing = Standing(self._rankings.endpoints[position], self._score(position))
            self._standings[position] = standing
        return standing

    def _score(self, position: int) -> Score:
        endpoint, ask = self._rankings.endpoints[position], self._ask
        price = self._rankings.mix_price(position, ask.output_share)
        raw = (
            task_fit(endpoint, ask.task),
            language_fit(endpoint, ask.language),
            documentation(endpoint),
            SOVEREIGNTY.get(endpoint.sovereignty, 0.0),
            self._prices.raw(self._prices.high if price is None else price),
            self._latencies.raw(self._rankings.latency(position)),
            endpoint.error_rate or 0.0,
        )
        terms = tuple(Term(value, weighted(WEIGHTS[name] * value)) for name, value in zip(TERMS, raw, strict=True))
        return Score(sum(term.weighted for term in terms), terms)


def _latency_of(endpoint: Endpoint) -> int:
    return DEFAULT_LATENCY_MS if endpoint.latency_ms is None else endpoint.latency_ms


def _own_weight(endpoint: Endpoint) -> int:
    """The sum of the weighted terms that belong to the endpoint alone, whatever is asked."""
    return (
        weighted(WEIGHTS["documentation"] * documentation(endpoint))
        + weighted(WEIGHTS["sovereignty"] * SOVEREIGNTY.get(endpoint.sovereignty, 0.0))
        + weighted(WEIGHTS["error_rate"] * (endpoint.error_rate or 0.0))
    )


def output_share(request: RouteRequest) -> int:
    """The share of output tokens in all tokens, in sixteenths, to the nearest (ties up); 4 where either is unknown."""
    tokens_in, tokens_out = request.input_tokens, request.output_tokens
    if tokens_in is None or tokens_out is None or not tokens_in + tokens_out:
        return _DEFAULT_SHARE
    total = tokens_in + tokens_out
    return (2 * _SIXTEENTHS * tokens_out + total) // (2 * total)
