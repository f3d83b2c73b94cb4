"""Where a price or a latency lies among a set of survivors (docs/decision.md, The score)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

_LATENCY_SPAN_MS = 1000


class Members:
    """A set of survivors that is asked for single positions, which on the bitset itself would cost its whole length."""

    def __init__(self, survivors: int) -> None:
        self._bytes = survivors.to_bytes((survivors.bit_length() + 7) // 8, "little")

    def __contains__(self, position: int) -> bool:
        at = position >> 3
        return at < len(self._bytes) and bool(self._bytes[at] >> (position & 7) & 1)

    def ends(self, ordered: Sequence[tuple[int, int]]) -> list[int]:
        """The least and the greatest value among the members, of (value, position) in the order of values."""
        least = next((value for value, position in ordered if position in self), None)
        if least is None:
            return []
        return [least, next(value for value, position in reversed(ordered) if position in self)]


class Scale(msgspec.Struct, frozen=True):
    """A raw term by where a value lies among the survivors: 0 at `low`, growing by 1 over `span`."""

    low: int
    high: int
    span: float

    def raw(self, value: int) -> float:
        return (value - self.low) / self.span


def price_scale_of(documented: Sequence[int]) -> Scale:
    """The price term; a survivor without both prices counts as the dearest, and where none has them all are equal."""
    low, high = min(documented, default=0), max(documented, default=0)
    return Scale(low, high, max(high - low, high / 2) or 1)


def latency_scale_of(latencies: Sequence[int]) -> Scale:
    """The latency term; differences below a second count for little."""
    low, high = min(latencies, default=0), max(latencies, default=0)
    return Scale(low, high, max(high - low, _LATENCY_SPAN_MS))
