"""The table of score terms, and the total order of what survives (docs/decision.md, The score).

Each weighted term is computed in IEEE double and rounded once to an integer of 10⁻⁹; a score is their exact sum, so
that no order of addition and no machine can change it.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

import msgspec

from router_service.domain import words
from router_service.domain.decision import TERMS, Score, Standing, Term
from router_service.domain.endpoint import Endpoint
from router_service.domain.languages import MANY
from router_service.domain.request import RouteRequest
from router_service.engine.bits import positions
from router_service.engine.cache import Bounded
from router_service.engine.time_budget import DEFAULT_LATENCY_MS, SEARCHED

WEIGHTS = dict(zip(TERMS, (5, 3, 1, 1, -2, -2, -3), strict=True))
SCALE = 10**9

_SOVEREIGNTY = {words.EU_OWNED: 2.0, words.EU_HOSTED: 1.0}
_MANY_LANGUAGES = 6
_LATENCY_SPAN_MS = 1000
_SIXTEENTHS = 16
_DEFAULT_SHARE = 4  # sixteenths of output where a request does not say both counts
_SMALL_B, _LARGE_B, _LEAST_CHEAP = 9, 753, 0.15
_OTHER_FIT, _CODING_TAG_FIT = 0.4, 0.7

_CODE_WORD = re.compile(r"devstral|code|code(x|stral|llama|gemma|qwen|gen|geex)[0-9]*|.*coder[0-9]*")
_NO_CODE_WORD = re.compile(r"(en|de|vo)coder[0-9]*")
_WORD_BREAK = re.compile(r"[-_./:]")


class Ask(msgspec.Struct, frozen=True):
    """What the score takes from a request: a task and a language that this index can tell apart, and the token mix.

    `output_share` is the share of output in all tokens, in sixteenths.
    """

    task: str
    language: str
    output_share: int


class Ranking:
    """The order of a set of survivors, best first, and what its scores are made of.

    `order` is the whole order, or its first `most` positions: a remembered ranking keeps only what a decision can use.
    """

    __slots__ = ("_ask", "_latencies", "_prices", "_scoring", "_standings", "order")

    def __init__(self, scoring: Scoring, survivors: int, ask: Ask, most: int | None = None) -> None:
        members = list(positions(survivors))
        self._scoring, self._ask = scoring, ask
        mix, latency, steady = scoring.mix_prices(ask.output_share), scoring.latencies, scoring.steady(ask)
        self._prices = _price_scale([price for i in members if (price := mix[i]) is not None])
        self._latencies = _latency_scale([latency[i] for i in members])
        price_weight, latency_weight = self._prices.weighted, self._latencies.weighted
        dearest = self._prices.high
        keys = [
            (
                -(steady[i] + price_weight(dearest if price is None else price) + latency_weight(latency[i])),
                price is None,
                price or 0,
                latency[i],
                i,
            )
            for i in members
            for price in (mix[i],)
        ]
        best = sorted(keys) if most is None else heapq.nsmallest(most, keys)
        self.order: tuple[int, ...] = tuple(key[-1] for key in best)
        self._standings: Bounded[int, Standing] = Bounded(SEARCHED)

    def standing(self, position: int) -> Standing:
        """One survivor with its score, term by term."""
        standing = self._standings.get(position)
        if standing is None:
            standing = Standing(self._scoring.endpoints[position], self._score(position))
            self._standings[position] = standing
        return standing

    def _score(self, position: int) -> Score:
        scoring, ask = self._scoring, self._ask
        endpoint = scoring.endpoints[position]
        price = scoring.mix_prices(ask.output_share)[position]
        raw = (
            task_fit(endpoint, ask.task),
            language_fit(endpoint, ask.language),
            documentation(endpoint),
            _SOVEREIGNTY.get(endpoint.sovereignty, 0.0),
            self._prices.raw(self._prices.high if price is None else price),
            self._latencies.raw(scoring.latencies[position]),
            endpoint.error_rate or 0.0,
        )
        terms = tuple(Term(value, weighted(WEIGHTS[name] * value)) for name, value in zip(TERMS, raw, strict=True))
        return Score(sum(term.weighted for term in terms), terms)


class Scoring:
    """What scores need of an index's endpoints, and the rankings that were asked for."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self.endpoints = endpoints
        self.latencies = [
            DEFAULT_LATENCY_MS if endpoint.latency_ms is None else endpoint.latency_ms for endpoint in endpoints
        ]
        self._tags = frozenset(tag for endpoint in endpoints for tag in endpoint.tags)
        self._languages = frozenset(language for endpoint in endpoints for language in endpoint.strong_languages)
        self._own = [
            weighted(WEIGHTS["documentation"] * documentation(endpoint))
            + weighted(WEIGHTS["sovereignty"] * _SOVEREIGNTY.get(endpoint.sovereignty, 0.0))
            + weighted(WEIGHTS["error_rate"] * (endpoint.error_rate or 0.0))
            for endpoint in endpoints
        ]
        self._steady: Bounded[tuple[str, str], list[int]] = Bounded(64)
        self._mixes: dict[int, list[int | None]] = {}
        self._rankings: Bounded[tuple[int, Ask], Ranking] = Bounded(512)

    def ask(self, request: RouteRequest) -> Ask:
        """What of the request can make a difference here; tags and languages that nobody has are all the same."""
        task = words.TASK_ALIASES.get(request.task, request.task)
        language = request.language
        return Ask(
            task if task in _FITS or task in self._tags else "",
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

    def mix_prices(self, output_share: int) -> list[int | None]:
        """Each endpoint's price by a mix of tokens, times 16; None unless both prices are documented."""
        if output_share not in self._mixes:
            self._mixes[output_share] = [
                None
                if one.input_price is None or one.output_price is None
                else (_SIXTEENTHS - output_share) * one.input_price + output_share * one.output_price
                for one in self.endpoints
            ]
        return self._mixes[output_share]

    def steady(self, ask: Ask) -> list[int]:
        """Each endpoint's sum of the weighted terms that do not depend on the other survivors."""
        key = (ask.task, ask.language)
        found = self._steady.get(key)
        if found is None:
            task, language = WEIGHTS["task_fit"], WEIGHTS["language_fit"]
            found = self._steady[key] = [
                own + weighted(task * task_fit(one, ask.task)) + weighted(language * language_fit(one, ask.language))
                for own, one in zip(self._own, self.endpoints, strict=True)
            ]
        return found


def output_share(request: RouteRequest) -> int:
    """The share of output tokens in all tokens, in sixteenths, to the nearest (ties up); 4 where either is unknown."""
    tokens_in, tokens_out = request.input_tokens, request.output_tokens
    if tokens_in is None or tokens_out is None or not tokens_in + tokens_out:
        return _DEFAULT_SHARE
    total = tokens_in + tokens_out
    return (2 * _SIXTEENTHS * tokens_out + total) // (2 * total)


def documentation(endpoint: Endpoint) -> float:
    """The documented share of eight facts."""
    facts = (
        endpoint.model_version,
        endpoint.region,
        endpoint.sovereignty,
        endpoint.context_window is not None,
        endpoint.max_output_tokens is not None,
        endpoint.input_price is not None and endpoint.output_price is not None,
        endpoint.parameters_b is not None,
        endpoint.strong_languages,
    )
    return sum(map(bool, facts)) / len(facts)


def language_fit(endpoint: Endpoint, language: str) -> float:
    """1 where the model is strong in the language, or in many where `mul` asks for many."""
    if language == MANY:
        return float(_is_multilingual(endpoint))
    return float(language in endpoint.strong_languages)


def task_fit(endpoint: Endpoint, task: str) -> float:
    """How well the model suits the task, 0 to 1: a row of the table, or by its tag."""
    fit = _FITS.get(task)
    if fit is not None:
        return fit(endpoint)
    return 1.0 if task in endpoint.tags else _OTHER_FIT


def _cheap_fit(endpoint: Endpoint) -> float:
    size = endpoint.parameters_b
    if size is None:
        return _LEAST_CHEAP
    if size <= _SMALL_B:
        return 1.0
    return max(_LEAST_CHEAP, 1 - 0.85 * math.log(size / _SMALL_B) / math.log(_LARGE_B / _SMALL_B))


def _retrieval_fit(endpoint: Endpoint) -> float:
    window = endpoint.context_window
    return min(1.0, max(0.1, (math.log2(window) - 13) / 4)) if window else 0.1


def _coding_fit(endpoint: Endpoint) -> float:
    if is_specialised_in_code(endpoint.model):
        return 1.0
    return _CODING_TAG_FIT if "coding" in endpoint.tags else _OTHER_FIT


def _is_multilingual(endpoint: Endpoint) -> bool:
    return len(endpoint.strong_languages) >= _MANY_LANGUAGES


_FITS: dict[str, Callable[[Endpoint], float]] = {
    words.GENERAL: lambda endpoint: 0.5,
    "cheap": _cheap_fit,
    words.RETRIEVAL: _retrieval_fit,
    "coding": _coding_fit,
    "multilingual": lambda endpoint: 1.0 if _is_multilingual(endpoint) else _OTHER_FIT,
}


def is_specialised_in_code(slug: str) -> bool:
    """Whether one of the slug's words says that the model was made for code (`devstral`, `starcoder2`, `codegemma`)."""
    return any(_CODE_WORD.fullmatch(word) and not _NO_CODE_WORD.fullmatch(word) for word in _WORD_BREAK.split(slug))


@dataclass(frozen=True, slots=True)
class _Scale:
    """A raw term by where a value lies among the survivors: 0 at `low`, growing by 1 over `span`."""

    low: int
    high: int
    span: float
    weight: int

    def raw(self, value: int) -> float:
        return (value - self.low) / self.span

    def weighted(self, value: int) -> int:
        return weighted(self.weight * ((value - self.low) / self.span))


def _price_scale(documented: Sequence[int]) -> _Scale:
    """The price term; a survivor without both prices counts as the dearest, and where none has them all are equal."""
    low, high = min(documented, default=0), max(documented, default=0)
    return _Scale(low, high, max(high - low, high / 2) or 1, WEIGHTS["price"])


def _latency_scale(latencies: Sequence[int]) -> _Scale:
    """The latency term; differences below a second count for little."""
    low, high = min(latencies, default=0), max(latencies, default=0)
    return _Scale(low, high, max(high - low, _LATENCY_SPAN_MS), WEIGHTS["latency"])


def weighted(value: float) -> int:
    """A weighted term, as double, in whole 10⁻⁹: rounded to the nearest, ties to even."""
    scaled = value * SCALE
    nearest = round(scaled)
    # Scaling rounds once more; only next to a tie can that matter, and there the exact decimal decides.
    if abs(abs(scaled - nearest) - 0.5) > 1e-5:
        return nearest
    return int((Decimal(value) * SCALE).to_integral_value(rounding=ROUND_HALF_EVEN))
