"""Rounds of load: what one gave, and the pairs of a floor's and a service's that stand right beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.figures import median, spread


@dataclass(frozen=True, slots=True)
class Round:
    """Calls a second, times of a call in µs, and the server's processor time per call in µs.

    `generator` is the share of its core that the generator used where it tells; near 1, it was the bottleneck.
    """

    throughput: float
    p50: float
    p99: float
    cpu: float
    generator: float = 0.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rounds, one right after the other."""

    base: Round
    other: Round

    def ratio(self, figure: str) -> float:
        """A figure of the other over the base's."""
        return float(getattr(self.other, figure) / getattr(self.base, figure))


def interleaved(rounds: int, base: Callable[[int], Round], other: Callable[[int], Round]) -> list[Pair]:
    """Pairs of rounds, each told its number; which of the two goes first alternates."""
    pairs = []
    for number in range(rounds):
        if number % 2:
            second = other(number)
            pairs.append(Pair(base(number), second))
        else:
            pairs.append(Pair(base(number), other(number)))
    return pairs


def ratio(pairs: Sequence[Pair], figure: str) -> float:
    """The median of the pairs' ratios."""
    return median(pair.ratio(figure) for pair in pairs)


def told(pairs: Sequence[Pair], figure: str) -> str:
    """The same with the least and the greatest."""
    return spread([pair.ratio(figure) for pair in pairs])


def measured(calls: Sequence[int], seconds: float, cpu: float) -> Round:
    """A round from the times of its calls in µs."""
    times = sorted(calls)
    return Round(len(times) / seconds, times[len(times) // 2], times[len(times) * 99 // 100], cpu)
