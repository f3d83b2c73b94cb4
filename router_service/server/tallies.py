"""What every call counts, as plain numbers that are given the form of metrics when somebody reads them.

The client library's own counters take a lock and check their labels at each step, which was a fifth of what the
service itself does in a Decide. All counting and reading happens on one event loop, so that no lock is needed.

A metric of many rows is given in parts of the same name, one after the other, so that whoever reads can pause between
them (see exposition).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TypeVar

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

_LINES_AT_ONCE = 48  # each takes some 10 µs to write
_Row = TypeVar("_Row")

Labels = tuple[str, ...]


class Counts(Collector):
    """A counter with labels. What is counted are whole numbers, `unit` of which are told as 1.

    Rows that `begin` names are there from the start, at 0: who asks for an increase misses one that begins at 1.
    """

    def __init__(
        self, name: str, about: str, labels: Sequence[str] = (), *, unit: int = 1, begin: Iterable[Labels] = ()
    ) -> None:
        self._name, self._about, self._labels, self._unit = name, about, labels, unit
        self._counts: dict[Labels, int] = dict.fromkeys(begin, 0)

    def add(self, labels: Labels, count: int = 1) -> None:
        """Counts under the values of the labels."""
        self._counts[labels] = self._counts.get(labels, 0) + count

    def keep(self, kept: Callable[[Labels], bool]) -> None:
        """Forgets all other rows."""
        self._counts = {labels: count for labels, count in self._counts.items() if kept(labels)}

    def collect(self) -> Iterator[Metric]:
        """As the library asks for it."""
        for rows in in_parts(list(self._counts.items()), 1):
            family = CounterMetricFamily(self._name, self._about, labels=self._labels)
            for labels, count in rows:
                family.add_metric(labels, count / self._unit)
            yield family


class Times(Collector):
    """A histogram of seconds with labels."""

    def __init__(self, name: str, about: str, labels: Sequence[str], bounds: Sequence[float]) -> None:
        self._name, self._about, self._labels, self._bounds = name, about, labels, tuple(bounds)
        self._rows: dict[Labels, list[float]] = {}

    def add(self, labels: Labels, seconds: float) -> None:
        """Counts a time under the values of the labels."""
        row = self._rows.get(labels)
        if row is None:
            # For each bound those at most it and above the one before, those above all, and the sum of all.
            row = self._rows[labels] = [0.0] * (len(self._bounds) + 2)
        row[bisect_left(self._bounds, seconds)] += 1
        row[-1] += seconds

    def keep(self, kept: Callable[[Labels], bool]) -> None:
        """Forgets all other rows."""
        self._rows = {labels: row for labels, row in self._rows.items() if kept(labels)}

    def collect(self) -> Iterator[Metric]:
        """As the library asks for it."""
        names = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        for rows in in_parts(list(self._rows.items()), len(names) + 2):
            family = HistogramMetricFamily(self._name, self._about, labels=self._labels)
            for labels, (*counts, total) in rows:
                family.add_metric(labels, list(zip(names, accumulate(counts), strict=True)), total)
            yield family


def in_parts(rows: Sequence[_Row], lines: int) -> Iterator[Sequence[_Row]]:
    """Rows of so many lines each in parts that are written at once; one part where there are none."""
    most = max(1, _LINES_AT_ONCE // lines)
    for start in range(0, max(1, len(rows)), most):
        yield rows[start : start + most]
