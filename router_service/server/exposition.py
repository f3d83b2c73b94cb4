"""The text that Prometheus reads, written in slices: thousands of lines must not hold up a decision."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

_HEAD_LINES = 2  # HELP and TYPE


class _Part(Collector):
    """A part of a metric, for the library to write."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterator[Metric]:
        """As the library asks for it."""
        yield self._metric


def written(registry: CollectorRegistry) -> Generator[None, None, bytes]:
    """The metrics of a registry: a generator that returns their text. Parts of one metric become one (see tallies)."""
    texts, before = [], ""
    for metric in registry.collect():
        text = generate_latest(_Part(metric))
        if metric.name == before:
            text = text.split(b"\n", _HEAD_LINES)[_HEAD_LINES]
        texts.append(text)
        before = metric.name
        yield
    return b"".join(texts)
