"""What is read rather than counted: circuits at the moment of the scrape, budgets as they were asked for last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice

import msgspec
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from router_service.domain.money import COST_UNIT
from router_service.health.board import Board
from router_service.health.circuit import CLOSED, HALF_OPEN, OPEN, PHASES
from router_service.health.span import later
from router_service.health.state import phase
from router_service.server.tallies import in_parts

CIRCUITS_MAX = 100
"""How many circuits that are not closed are told by endpoint; how many there are is told in any case."""
BUDGETS_MAX = 500
"""How many budgets are told."""

_NUMBERS = {CLOSED: 0, HALF_OPEN: 1, OPEN: 2}


class Circuits(Collector):
    """The circuits and suppressions of the endpoints that serve."""

    def __init__(self, board: Board, clock: Callable[[], int], served: Callable[[], Collection[str]]) -> None:
        """`served` gives the ids of the endpoints of the catalogue."""
        self._board, self._clock, self._served = board, clock, served

    def collect(self) -> Iterator[Metric]:
        """As the library asks for it."""
        now, served = self._clock(), self._served()
        known = {one: health for one, health in self._board.watched().items() if one in served}
        phases = {one: phase(health, now) for one, health in known.items()}
        shut = {one: state for one, state in phases.items() if state != CLOSED}
        counts = Counter(shut.values())
        counts[CLOSED] = len(served) - len(shut)
        totals = GaugeMetricFamily("router_circuits", "Endpoints by the state of their circuit.", labels=["state"])
        for state in PHASES:
            totals.add_metric([state], counts[state])
        yield totals
        single = GaugeMetricFamily(
            "router_circuit_state", "Circuits that are not closed: 1 half-open, 2 open.", labels=["endpoint"]
        )
        for endpoint_id in islice(sorted(shut), CIRCUITS_MAX):
            single.add_metric([endpoint_id], _NUMBERS[shut[endpoint_id]])
        yield single
        paused = sum(later(health.suppressed, None, now) is not None for health in known.values())
        yield GaugeMetricFamily(
            "router_suppressed_endpoints", "Endpoints paused by their own word: rate limit, quota, credentials.", paused
        )


class Budget(msgspec.Struct, frozen=True):
    """One policy's budget of today, in 10⁻¹² of the currency."""

    limit: int
    spent: int
    reserved: int


class Spendings(Collector):
    """Daily budgets as the store told them last."""

    def __init__(self) -> None:
        self._budgets: Mapping[str, Budget] = {}
        self._currency, self._asked_at = "", 0

    def tell(self, budgets: Mapping[str, Budget], currency: str, asked_at: int) -> None:
        """What the store said at an instant (ms), by policy."""
        self._budgets, self._currency, self._asked_at = budgets, currency, asked_at

    def forget(self) -> None:
        """The store is lost, and what it said may be wrong by now."""
        self._budgets = {}

    def collect(self) -> Iterator[Metric]:
        """As the library asks for it."""
        labels = ["policy", "currency"]
        for name, about, amount in _BUDGET_GAUGES:
            for part in in_parts(list(self._budgets.items())[:BUDGETS_MAX], 1):
                family = GaugeMetricFamily(name, about, labels=labels)
                for policy_id, budget in part:
                    family.add_metric([policy_id, self._currency], amount(budget) / COST_UNIT)
                yield family
        asked = GaugeMetricFamily(
            "router_budgets_asked_timestamp_seconds", "When the store last told what is spent of the budgets."
        )
        if self._asked_at:
            asked.add_metric([], self._asked_at / 1000)
        yield asked


_BUDGET_GAUGES: tuple[tuple[str, str, Callable[[Budget], int]], ...] = (
    ("router_budget_limit", "The daily budget of a policy, in the catalogue's currency.", lambda one: one.limit),
    ("router_budget_spent", "What is settled of the policy's day, in the catalogue's currency.", lambda one: one.spent),
    (
        "router_budget_reserved",
        "What decisions that were not reported yet hold of the policy's day, in the catalogue's currency.",
        lambda one: one.reserved,
    ),
)
