"""What scores need of an index's endpoints, and the rankings that were asked for (docs/decision.md, The score)."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence

from router_service.domain import words
from router_service.domain.endpoint import Endpoint
from router_service.domain.languages import MANY
from router_service.domain.request import RouteRequest
from router_service.engine.bits import bitset
from router_service.engine.cache import Bounded
from router_service.engine.facts import SLICE
from router_service.engine.ordered import Ordered
from router_service.engine.ranking import SIXTEENTHS, Ask, Ranking, Steady, output_share
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

RANKINGS = 2048  # remembered of one index

_ANY_TAG = ""
_STRONG = weighted(WEIGHTS["language_fit"] * 1.0)
_TAGGED = weighted(WEIGHTS["task_fit"] * 1.0) - weighted(WEIGHTS["task_fit"] * OTHER_FIT)


class Rankings:
    """What scores need of an index's endpoints, and the rankings that were asked for."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        tags: Mapping[str, int],
        languages: Mapping[str, int],
    ) -> None:
        """`tags` and `languages` are the sets of the endpoints that have each. To be compiled before use."""
        self.endpoints = endpoints
        self._tags, self._languages = tags, languages
        self.prices: list[tuple[int, int] | None] = []
        self.latencies: list[int] = []
        self.errors: list[int] = []
        # What an endpoint has by itself with its fit for a task, and for one that is no more than a tag it lacks.
        self._by_task: dict[str, list[int]] = {task: [] for task in (*FITS, _ANY_TAG)}
        self._order_by_task: dict[str, Ordered] = {}
        self._multilingual = 0
        self._by_mix_price: list[Ordered] = []  # one for each sixteenth
        self._by_latency = Ordered((), 0)
        self._rankings: Bounded[tuple[int, Ask], Ranking] = Bounded(RANKINGS)

    def compile(self) -> Iterator[None]:
        """Works out what belongs to one endpoint alone, and the orders by price and latency, slice by slice."""
        fits = [(self._by_task[task].append, fit) for task, fit in FITS.items()]
        fits.append((self._by_task[_ANY_TAG].append, lambda _: OTHER_FIT))
        multilingual: list[int] = []
        for position, one in enumerate(self.endpoints):
            known = one.input_price is not None and one.output_price is not None
            self.prices.append((one.input_price or 0, one.output_price or 0) if known else None)
            self.latencies.append(_latency_of(one))
            self.errors.append(_error_weight(one))
            own = _own_weight(one)
            for add, fit in fits:
                add(own + weighted(WEIGHTS["task_fit"] * fit(one)))
            if is_multilingual(one):
                multilingual.append(position)
            if position % SLICE == 0:
                yield
        self._multilingual = bitset(multilingual, len(self.endpoints))
        for task, base in self._by_task.items():
            order = sorted(range(len(base)), key=base.__getitem__, reverse=True)
            yield
            self._order_by_task[task] = Ordered(order, len(base))
            yield
        yield from self._order_by_latency()
        for share in range(SIXTEENTHS + 1):
            yield from self._order_by_mix_price(share)

    def overlaid(self, endpoints: Sequence[Endpoint], changes: Collection[int]) -> Generator[None, None, Rankings]:
        """The same for endpoints whose latencies and error rates differ at `changes`: a generator that returns it."""
        other = Rankings.__new__(Rankings)
        other.__dict__.update(self.__dict__)
        other.endpoints = endpoints
        other._rankings = Bounded(RANKINGS)  # noqa: SLF001 - its own kind
        other.latencies, other.errors = self.latencies.copy(), self.errors.copy()
        for position in changes:
            other.latencies[position] = _latency_of(endpoints[position])
            other.errors[position] = _error_weight(endpoints[position])
        yield
        if other.latencies != self.latencies:
            yield from other._order_by_latency()  # noqa: SLF001 - its own kind
        return other

    def _order_by_latency(self) -> Iterator[None]:
        order = sorted(range(len(self.latencies)), key=self.latencies.__getitem__)
        yield
        self._by_latency = Ordered(order, len(self.endpoints))
        yield

    def _order_by_mix_price(self, output_share: int) -> Iterator[None]:
        prices = [self.mix_price(position, output_share) or 0 for position in range(len(self.endpoints))]
        yield
        priced = [position for position, both in enumerate(self.prices) if both is not None]
        order = sorted(priced, key=prices.__getitem__)
        yield
        self._by_mix_price.append(Ordered(order, len(self.endpoints)))
        yield

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

    def steady(self, ask: Ask) -> Steady:
        """The weighted terms that no report and no other survivor changes."""
        task = ask.task if ask.task in FITS else _ANY_TAG
        tagged = 0 if ask.task in FITS else self._tags.get(ask.task, 0)
        strong = self._multilingual if ask.language == MANY else self._languages.get(ask.language, 0)
        bonuses = tuple((weight, bits) for weight, bits in ((_TAGGED, tagged), (_STRONG, strong)) if bits)
        return Steady(self._by_task[task], self._order_by_task[task], bonuses)

    def mix_price(self, position: int, output_share: int) -> int | None:
        """An endpoint's price by a mix of tokens, times 16; None unless both prices are documented."""
        prices = self.prices[position]
        if prices is None:
            return None
        return (SIXTEENTHS - output_share) * prices[0] + output_share * prices[1]

    def by_mix_price(self, output_share: int) -> Ordered:
        """The endpoints that document both prices, cheapest first."""
        return self._by_mix_price[output_share]

    def by_latency(self) -> Ordered:
        """All endpoints, fastest first."""
        return self._by_latency


def _latency_of(endpoint: Endpoint) -> int:
    return DEFAULT_LATENCY_MS if endpoint.latency_ms is None else endpoint.latency_ms


def _own_weight(endpoint: Endpoint) -> int:
    """The sum of the weighted terms that belong to the endpoint alone, whatever is asked and reported."""
    sovereignty = WEIGHTS["sovereignty"] * SOVEREIGNTY.get(endpoint.sovereignty, 0.0)
    return weighted(WEIGHTS["documentation"] * documentation(endpoint)) + weighted(sovereignty)


def _error_weight(endpoint: Endpoint) -> int:
    return weighted(WEIGHTS["error_rate"] * (endpoint.error_rate or 0.0))
