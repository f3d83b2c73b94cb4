"""The endpoints whose need exceeds what can be spent (docs/decision.md, rule 20)."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from router_service.domain.endpoint import Endpoint
from router_service.engine.bits import bitset
from router_service.engine.cache import Bounded
from router_service.engine.time_budget import generation_ms, need_ms


class NeedSets:
    """Endpoints by their speed, and for each speed by what they need before the first token."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        by_speed: dict[Fraction | None, list[tuple[int, int]]] = defaultdict(list)
        for position, endpoint in enumerate(endpoints):
            by_speed[endpoint.tokens_per_second].append((need_ms(endpoint, None), position))
        self._by_speed = {
            speed: ([need for need, _ in sorted(members)], [position for _, position in sorted(members)])
            for speed, members in by_speed.items()
        }
        self._size = len(endpoints)
        self._remembered: Bounded[tuple[int, int | None], int] = Bounded(256)

    def above(self, spendable: int, expected_output_tokens: int | None) -> int:
        """The endpoints whose need is more than `spendable` ms."""
        key = (spendable, expected_output_tokens)
        found = self._remembered.get(key)
        if found is None:
            beyond: list[int] = []
            for speed, (needs, members) in self._by_speed.items():
                left = spendable - generation_ms(expected_output_tokens, speed)
                beyond += members[bisect_right(needs, left) :]
            found = self._remembered[key] = bitset(beyond, self._size)
        return found
