"""What is under way, as metrics that are read rather than counted."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from router_service.server.connections import Connections
from router_service.server.entrance import Entrance
from router_service.server.rpc import Calls


class UnderWay(Collector):
    """The calls, streams and connections of one server."""

    def __init__(self, calls: Calls, connections: Connections, entrance: Entrance) -> None:
        self._calls, self._connections, self._entrance = calls, connections, entrance

    def collect(self) -> Iterator[Metric]:
        """As the library asks for it."""
        admission = self._calls.admission
        streams = admission.streams
        for name, about, value in (
            ("router_calls_under_way", "Calls under way now, streams aside.", self._calls.count - streams),
            ("router_streams_open", "Streams open now.", streams),
            (
                "router_calls_arriving",
                "Calls whose message is still to come.",
                sum(one.count for one in self._entrance.waiting),
            ),
            (
                "router_calls_beside",
                "Calls of health Watch and reflection open now.",
                sum(one.count for one in self._entrance.beside),
            ),
            ("router_unsent_bytes", "Bytes of large answers that wait to be taken.", admission.unsent),
            ("router_connections", "Connections, as they were counted last.", self._connections.count),
            (
                "router_connections_of_one_address",
                "Connections of the address that has most, as they were counted last.",
                self._connections.most_of_one,
            ),
            ("router_connections_max", "How many connections there may be.", self._entrance.connections_most),
        ):
            yield GaugeMetricFamily(name, about, value)
        yield CounterMetricFamily(
            "router_calls_waited",
            "Calls and items that waited, since their caller has more than its share of a busy server.",
            admission.turns.waited,
        )
