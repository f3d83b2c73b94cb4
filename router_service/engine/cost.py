"""Estimated costs, in 10⁻¹² of the catalogue's currency (docs/decision.md, Estimated cost)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter

from router_service.domain.endpoint import Endpoint
from router_service.domain.money import MILLION
from router_service.domain.request import RouteRequest
from router_service.engine.bits import bitset
from router_service.engine.cache import Bounded
from router_service.engine.plane import Plane


def estimated_cost(endpoint: Endpoint, request: RouteRequest) -> int | None:
    """What one attempt may cost; None where a token count or a price that is needed is absent, never a part of it.

    A price multiplied by zero tokens is not needed. Under a `max_cost` alone, absent output tokens count as the most
    that the endpoint may give.
    """
    output_tokens = request.output_tokens
    if output_tokens is None and request.max_cost is not None:
        output_tokens = endpoint.max_output_tokens
    input_tokens = request.input_tokens
    if input_tokens is None or output_tokens is None:
        return None
    input_price, output_price = endpoint.input_price, endpoint.output_price
    if (input_tokens and input_price is None) or (output_tokens and output_price is None):
        return None
    return input_tokens * (input_price or 0) + output_tokens * (output_price or 0)


Prices = tuple[int | None, int | None, int | None]
"""Input price, output price and output limit of an endpoint."""


class CostSets:
    """The endpoints above a limit of cost, and those whose cost is not documented, for any request's tokens."""

    def __init__(self, endpoints: Sequence[Endpoint], by_prices: Mapping[Prices, Sequence[int]]) -> None:
        """`by_prices` groups the positions of endpoints alike in prices and output limit. To be compiled before use."""
        # One endpoint of each group stands for all.
        self._groups = [(endpoints[members[0]], members) for members in by_prices.values()]
        self._size = len(endpoints)
        self._dearest = (
            max((prices[0] or 0 for prices in by_prices), default=0),
            max((prices[1] or 0 for prices in by_prices), default=0),
        )
        self._remembered: Bounded[tuple[int | None, int | None, int], tuple[int, int]] = Bounded(256)

    def compile(self) -> Iterator[None]:
        """Orders the endpoints, slice by slice."""
        self._without_input_price = self._where(lambda one: one.input_price is None)
        self._without_output_price = self._where(lambda one: one.output_price is None)
        yield
        points: list[tuple[int, int, int]] = []
        for number, (one, members) in enumerate(self._groups):
            prices = one.input_price or 0, one.output_price or 0
            points += ((*prices, position) for position in members)
            if number % 256 == 0:
                yield
        points.sort(key=itemgetter(0))
        yield
        self._plane = Plane(points, self._size)
        yield from self._plane.compile()

    def ample(self, input_tokens: int, output_tokens: int) -> int:
        """The least limit of cost (millionths) that no endpoint can be above: every greater one says the same."""
        return -(-(input_tokens * self._dearest[0] + output_tokens * self._dearest[1]) // MILLION)

    def _where(self, test: Callable[[Endpoint], bool]) -> int:
        members = (position for one, group in self._groups if test(one) for position in group)
        return bitset(members, self._size)

    def sets(self, request: RouteRequest) -> tuple[int, int]:
        """(above the limit, not documented), both empty where the request sets no `max_cost`."""
        if request.max_cost is None:
            return 0, 0
        tokens_in, tokens_out = request.input_tokens, request.output_tokens
        if tokens_in is not None and tokens_out is not None:
            # Only prices that are needed can be missing.
            without = self._without_input_price if tokens_in else 0
            without |= self._without_output_price if tokens_out else 0
            if request.max_cost >= self.ample(tokens_in, tokens_out):
                return 0, without  # as under most budgets
        key = (tokens_in, tokens_out, request.max_cost)
        found = self._remembered.get(key)
        if found is None:
            limit = request.max_cost * MILLION
            if tokens_in is None or tokens_out is None:
                found = self._one_by_one(request, limit)
            else:
                found = self._plane.above(tokens_in.__mul__, limit, tokens_out) & ~without, without
            self._remembered[key] = found
        return found

    def _one_by_one(self, request: RouteRequest, limit: int) -> tuple[int, int]:
        """The same where a count is absent, so that each endpoint's own limit of output has a part in it."""
        above: list[int] = []
        undocumented: list[int] = []
        for endpoint, members in self._groups:
            cost = estimated_cost(endpoint, request)
            if cost is None:
                undocumented += members
            elif cost > limit:
                above += members
        return bitset(above, self._size), bitset(undocumented, self._size)
