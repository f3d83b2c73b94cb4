"""The endpoints whose need exceeds what can be spent (docs/decision.md, rule 20)."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from fractions import Fraction

from router_service.domain.endpoint import Endpoint
from router_service.engine.cache import Bounded
from router_service.engine.plane import Plane
from router_service.engine.time_budget import need_ms

_Pace = tuple[int, int]
"""What one expected token takes, as (ms, divisor); (0, 1) where the speed is not documented."""


class NeedSets:
    """Endpoints by what a token takes and by what they need before the first one."""

    def __init__(self, endpoints: Sequence[Endpoint], by_speed: Mapping[Fraction | None, Sequence[int]]) -> None:
        """`by_speed` groups the positions of endpoints by their tokens per second. To be compiled before use."""
        self._endpoints, self._by_speed = endpoints, by_speed
        self._remembered: Bounded[tuple[int, int | None], int] = Bounded(256)

    def compile(self) -> Iterator[None]:
        """Orders the endpoints, slice by slice."""
        # The double first: it falls as the exact one does, and is compared at once.
        speeds = sorted(((float(one), one) for one in self._by_speed if one is not None), reverse=True)
        yield
        groups: list[tuple[_Pace, Sequence[int]]] = [((0, 1), self._by_speed.get(None, ()))]
        groups += (((1000 * one.denominator, one.numerator), self._by_speed[one]) for _, one in speeds)
        points: list[tuple[_Pace, int, int]] = []
        for number, (pace, members) in enumerate(groups):
            points += ((pace, need_ms(self._endpoints[position], None), position) for position in members)
            if number % 256 == 0:
                yield
        self._plane = Plane(points, len(self._endpoints))
        yield from self._plane.compile()

    def overlaid(self, endpoints: Sequence[Endpoint], changes: Collection[int]) -> Generator[None, None, NeedSets]:
        """The same for endpoints whose latencies differ at the positions of `changes`: a generator that returns it."""
        other = NeedSets(endpoints, self._by_speed)
        needs = {position: need_ms(endpoints[position], None) for position in changes}
        yield
        other._plane = yield from self._plane.overlaid(needs)
        return other

    def above(self, spendable: int, expected_output_tokens: int | None) -> int:
        """The endpoints whose need is more than `spendable` ms."""
        key = (spendable, expected_output_tokens)
        found = self._remembered.get(key)
        if found is None:
            tokens = expected_output_tokens or 0
            found = self._remembered[key] = self._plane.above(lambda pace: -(-tokens * pace[0] // pace[1]), spendable)
        return found
