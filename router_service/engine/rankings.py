"""What scores need of an index's endpoints, and the rankings that were asked for (docs/decision.md, The score)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from router_service.domain import words
from router_service.domain.endpoint import Endpoint
from router_service.domain.languages import MANY
from router_service.domain.request import RouteRequest
from router_service.engine.cache import Bounded
from router_service.engine.facts import SLICE
from router_service.engine.ordered import Ordered
from router_service.engine.ranking import SIXTEENTHS, Ask, Ranking, output_share
from router_service.engine.scoring import (
    FITS,
    OTHER_FIT,
    SOVEREIGNTY,
    WEIGHTS,
    documentation,
    is_multilingual,
    weighted,
)
from router_service.engine.time_budget import DEFAULT_LATENCY_MS


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
        self._by_steady: Bounded[tuple[str, str], Ordered] = Bounded(64)
        self._by_mix_price: dict[int, Ordered] = {}  # one for each sixteenth
        self._by_latency: Ordered | None = None
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
        """The survivors in order, as far as a failover list looks.

        The same set always ranks the same way, so it is worked out once.
        """
        found = self._rankings.get((survivors, ask))
        if found is None:
            found = self._rankings[survivors, ask] = Ranking(self, survivors, ask)
        return found

    def whole(self, survivors: int, ask: Ask) -> Ranking:
        """All the survivors in order, for an explanation."""
        return Ranking(self, survivors, ask, whole=True)

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
        return (SIXTEENTHS - output_share) * prices[0] + output_share * prices[1]

    def by_mix_price(self, output_share: int) -> Ordered:
        """The endpoints that document both prices, cheapest first."""
        found = self._by_mix_price.get(output_share)
        if found is None:
            prices = ((self.mix_price(i, output_share), i) for i in range(len(self.endpoints)))
            order = [i for _, i in sorted((price, i) for price, i in prices if price is not None)]
            found = self._by_mix_price[output_share] = Ordered(order, len(self.endpoints))
        return found

    def by_latency(self) -> Ordered:
        """All endpoints, fastest first."""
        if self._by_latency is None:
            order = sorted(range(len(self.latencies)), key=self.latencies.__getitem__)
            self._by_latency = Ordered(order, len(self.endpoints))
        return self._by_latency

    def by_steady(self, ask: Ask) -> Ordered:
        """The endpoints by what of their scores does not depend on the other survivors, most first."""
        key = (ask.task, ask.language)
        found = self._by_steady.get(key)
        if found is None:
            steady = self.steady(ask)
            order = sorted(range(len(steady)), key=steady.__getitem__, reverse=True)
            found = self._by_steady[key] = Ordered(order, len(self.endpoints))
        return found

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


def _latency_of(endpoint: Endpoint) -> int:
    return DEFAULT_LATENCY_MS if endpoint.latency_ms is None else endpoint.latency_ms


def _own_weight(endpoint: Endpoint) -> int:
    """The sum of the weighted terms that belong to the endpoint alone, whatever is asked."""
    return (
        weighted(WEIGHTS["documentation"] * documentation(endpoint))
        + weighted(WEIGHTS["sovereignty"] * SOVEREIGNTY.get(endpoint.sovereignty, 0.0))
        + weighted(WEIGHTS["error_rate"] * (endpoint.error_rate or 0.0))
    )
