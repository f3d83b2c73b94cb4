"""Where a price or a latency lies among a set of survivors (docs/decision.md, The score)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

_LATENCY_SPAN_MS = 1000


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
