"""The endpoints whose need exceeds what can be spent (docs/decision.md, rule 20)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

from router_service.domain.endpoint import Endpoint
from router_service.engine.bits import bitset
from router_service.engine.cache import Bounded
from router_service.engine.time_budget import generation_ms, need_ms


class NeedSets:
    """Endpoints by their speed, and for each speed by what they need before the first token."""

    def __init__(self, endpoints: Sequence[Endpoint], by_speed: Mapping[Fraction | None, Sequence[int]]) -> None:
        """`by_speed` groups the positions of endpoints by their tokens per second. To be compiled before use."""
        self._endpoints, self._given = endpoints, by_speed
        self._by_speed: dict[Fraction | None, tuple[list[int], list[int]]] = {}
        self._remembered: Bounded[tuple[int, int | None], int] = Bounded(256)

    def compile(self) -> Iterator[None]:
        """Sorts each group, slice by slice."""
        for speed in self._given:
            self._sort(speed)
            yield

    def overlaid(self, endpoints: Sequence[Endpoint], changes: Collection[int]) -> NeedSets:
        """The same for endpoints whose latencies differ at the positions of `changes`; other groups are shared."""
        other = NeedSets(endpoints, self._given)
        other._by_speed.update(self._by_speed)
        for speed in {endpoints[position].tokens_per_second for position in changes}:
            other._sort(speed)
        return other

    def _sort(self, speed: Fraction | None) -> None:
        ordered = sorted((need_ms(self._endpoints[position], None), position) for position in self._given[speed])
        self._by_speed[speed] = [need for need, _ in ordered], [position for _, position in ordered]

    def above(self, spendable: int, expected_output_tokens: int | None) -> int:
        """The endpoints whose need is more than `spendable` ms."""
        key = (spendable, expected_output_tokens)
        found = self._remembered.get(key)
        if found is None:
            beyond: list[int] = []
            for speed, (needs, members) in self._by_speed.items():
                left = spendable - generation_ms(expected_output_tokens, speed)
                beyond += members[bisect_right(needs, left) :]
            found = self._remembered[key] = bitset(beyond, len(self._endpoints))
        return found
