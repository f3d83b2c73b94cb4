"""What every call counts, as plain numbers that are given the form of metrics when somebody reads them.

The client library's own counters take a lock and check their labels at each step, which was a fifth of what the
service itself does in a Decide. All counting and reading happens on one event loop, so that no lock is needed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector


class Counts(Collector):
    """A counter with labels."""

    def __init__(self, name: str, about: str, labels: Sequence[str]) -> None:
        self._name, self._about, self._labels = name, about, labels
        self._counts: dict[tuple[str, ...], int] = {}

    def add(self, labels: tuple[str, ...], count: int = 1) -> None:
        """Counts under the values of the labels."""
        self._counts[labels] = self._counts.get(labels, 0) + count

    def collect(self) -> Iterator[Metric]:
        """As the library asks for it."""
        family = CounterMetricFamily(self._name, self._about, labels=self._labels)
        for labels, count in self._counts.items():
            family.add_metric(labels, count)
        yield family


class Times(Collector):
    """A histogram of seconds with labels."""

    def __init__(self, name: str, about: str, labels: Sequence[str], bounds: Sequence[float]) -> None:
        self._name, self._about, self._labels, self._bounds = name, about, labels, tuple(bounds)
        self._rows: dict[tuple[str, ...], list[float]] = {}

    def add(self, labels: tuple[str, ...], seconds: float) -> None:
        """Counts a time under the values of the labels."""
        row = self._rows.get(labels)
        if row is None:
            # For each bound those at most it and above the one before, those above all, and the sum of all.
            row = self._rows[labels] = [0.0] * (len(self._bounds) + 2)
        row[bisect_left(self._bounds, seconds)] += 1
        row[-1] += seconds

    def collect(self) -> Iterator[Metric]:
        """As the library asks for it."""
        family = HistogramMetricFamily(self._name, self._about, labels=self._labels)
        names = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        for labels, (*counts, total) in self._rows.items():
            family.add_metric(labels, list(zip(names, accumulate(counts), strict=True)), total)
        yield family
