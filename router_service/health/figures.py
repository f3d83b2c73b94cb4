"""Figures: observed latency and error rate, weighted by age (docs/reliability.md, Observed figures).

A figure is the mean of its observations, each weighing 2^(−age / half-life); all weights grow old alike, so the mean
stays until the next observation, and only an observation moves it. Instants and times are ms.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

import msgspec

from router_service.domain.report import ReportedAttempt
from router_service.domain.thresholds import Thresholds
from router_service.engine.time_budget import generation_ms

RATE_PLACES = 3
"""Decimal places of an error rate that is told: no machine's floating point shows, and no ranking moves by less."""


class Figure(msgspec.Struct, frozen=True, array_like=True):
    """A weighted mean: `value` of `count` observations that together weigh `weight` at `at`, the instant of the latest.

    Without observations `count` is 0 and the rest means nothing.
    """

    value: float = 0.0
    weight: float = 0.0
    count: int = 0
    at: int = 0

    def is_forgotten(self, now: int, forget_ms: int) -> bool:
        """Whether nothing was observed for so long; that far ahead is as strange, and comes of a clock set back."""
        return self.count == 0 or abs(now - self.at) >= forget_ms

    def with_observation(self, value: float, at: int, now: int, thresholds: Thresholds) -> Figure:
        """The figure with one more observation, of `at` ≤ `now`. One older than forget_ms is none."""
        if now - at >= thresholds.forget_ms:
            return self
        if self.is_forgotten(now, thresholds.forget_ms):
            return Figure(float(value), 1.0, 1, at)
        known_at = min(self.at, now)
        newest = max(known_at, at)
        known = self.weight * _weight(newest - known_at, thresholds)
        added = _weight(newest - at, thresholds)
        # Rounding must not carry it out of what was observed.
        low, high = min(self.value, value), max(self.value, value)
        mean = self.value + (value - self.value) * (added / (known + added))
        return Figure(min(max(mean, low), high), known + added, self.count + 1, newest)

    def told(self, now: int, thresholds: Thresholds) -> float | None:
        """The mean, once enough was observed and while it is not forgotten."""
        if self.count < thresholds.least_observations or self.is_forgotten(now, thresholds.forget_ms):
            return None
        return self.value


def _weight(age: int, thresholds: Thresholds) -> float:
    return float(2.0 ** (-age / thresholds.half_life_ms))


def shown_latency(mean: float | None) -> int | None:
    """A mean latency in whole ms, halves up."""
    return None if mean is None else floor(mean + 0.5)


def shown_rate(mean: float | None) -> float | None:
    """A mean error rate in RATE_PLACES places, halves to even; 0 to 1 as the observations are."""
    return None if mean is None else round(mean, RATE_PLACES)


def latency_of(attempt: ReportedAttempt, tokens_per_second: Fraction | None) -> int | None:
    """How long a success took to its first token (ms), None where nothing was told of that.

    Where only the whole is told, the time that its output takes at the endpoint's speed is taken off, if both are
    known, since the latency of an endpoint is that to the first token.
    """
    if attempt.time_to_first_token_ms is not None:
        return attempt.time_to_first_token_ms
    if attempt.latency_ms is None:
        return None
    return max(0, attempt.latency_ms - generation_ms(attempt.output_tokens, tokens_per_second))
