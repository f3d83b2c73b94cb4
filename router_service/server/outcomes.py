"""What reports say came of decisions, by policy and by the route that ended them (docs/metrics.md, Reports).

Each attempt counts once, and each outcome of an operation once (traces/reports.py, Settled). What an operation took
and did cost is booked on its final route, each attempt itself on the endpoint that it was made at.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from router_service.domain.money import COST_UNIT
from router_service.domain.report import ReportedAttempt
from router_service.domain.thresholds import Thresholds
from router_service.health.effects import SUCCESS, effect_of
from router_service.server.labels import OTHER, Values
from router_service.server.tallies import Counts, Labels, Times
from router_service.traces.reports import Settled

NO_ROUTE = "(none)"
"""The route of an operation that ended before any attempt."""
NO_CLASS = "none"
"""The class of an attempt that neither failed nor succeeded: its caller cancelled it, or its status is no success."""
PAIRS_MAX = 500
"""How many pairs of a policy and an endpoint are told apart; of those beyond, only the policy is told."""

_LATENCIES_S = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300)
_FIRST_TOKENS_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 15, 30, 60)
_USUAL = Thresholds()  # they say for how long an effect keeps an endpoint out, not which one it is


class Outcomes(Collector):
    """Counts reports that were taken. `policies` and `endpoints` are the values of the labels."""

    def __init__(self, policies: Values, endpoints: Values) -> None:
        self._policies, self._endpoints = policies, endpoints
        self._pairs: set[tuple[str, str]] = set()
        self._currency = ""
        self._operations = Counts(
            "router_operations",
            "Operations reported, by how they ended and the endpoint of their last attempt.",
            ["policy", "route", "outcome"],
        )
        self._fallbacks = Counts(
            "router_operation_fallbacks",
            "Operations accepted from another endpoint than the first of their decision's list.",
            ["policy", "route"],
        )
        self._taken = Counts(
            "router_operation_attempts", "Attempts that operations took, by their final route.", ["policy", "route"]
        )
        self._costs = Counts(
            "router_operation_cost",
            "What all attempts of operations did cost, in the catalogue's currency, by their final route.",
            ["policy", "route", "currency"],
            unit=COST_UNIT,
        )
        self._attempts = Counts(
            "router_attempts",
            "Attempts reported, by endpoint and failure class; success where there was none.",
            ["policy", "endpoint", "class"],
        )
        self._latencies = Times(
            "router_attempt_latency_seconds",
            "How long successful attempts took, as reported.",
            ["endpoint"],
            _LATENCIES_S,
        )
        self._first_tokens = Times(
            "router_attempt_time_to_first_token_seconds",
            "How long successful attempts took to the first token, as reported.",
            ["endpoint"],
            _FIRST_TOKENS_S,
        )
        self._paired = (self._operations, self._fallbacks, self._taken, self._costs, self._attempts)

    def add(self, settled: Settled) -> None:
        """Counts a report that was taken."""
        policy_id, new = settled.trace.policy_id, settled.new
        final = self._pair(policy_id, settled.route)
        if settled.ends:
            self._operations.add((*final, settled.report.outcome))
            if settled.falls_back:
                self._fallbacks.add(final)
        if new:
            self._taken.add(final, len(new))
            self._costs.add((*final, self._currency), sum(settled.costs[one.attempt_id] for one in new))
        for attempt in new:
            self._attempt(policy_id, attempt, settled.report.outcome)

    def collect(self) -> Iterator[Metric]:
        """As the library asks for it."""
        for counts in self._paired:
            yield from counts.collect()
        yield from self._latencies.collect()
        yield from self._first_tokens.collect()

    def serve(self, currency: str) -> None:
        """Another catalogue serves: what the labels no longer show is forgotten, and all costs in another currency."""
        for counts in self._paired:
            counts.keep(self._is_known)
        for times in (self._latencies, self._first_tokens):
            times.keep(lambda labels: self._endpoints.has(labels[0]))
        self._pairs = {pair for pair in self._pairs if self._is_known(pair)}
        self._costs.keep(lambda labels: labels[2] == currency)
        self._currency = currency

    def _attempt(self, policy_id: str, attempt: ReportedAttempt, outcome: str) -> None:
        succeeded = effect_of(attempt, outcome, None, _USUAL).kind == SUCCESS
        kind = attempt.failure_class or (SUCCESS if succeeded else NO_CLASS)
        self._attempts.add((*self._pair(policy_id, attempt.endpoint_id), kind))
        if not succeeded:
            return
        endpoint = self._endpoints.of(attempt.endpoint_id)
        if attempt.latency_ms is not None:
            self._latencies.add((endpoint,), attempt.latency_ms / 1000)
        if attempt.time_to_first_token_ms is not None:
            self._first_tokens.add((endpoint,), attempt.time_to_first_token_ms / 1000)

    def _pair(self, policy_id: str, endpoint_id: str) -> tuple[str, str]:
        policy = self._policies.of(policy_id)
        endpoint = self._endpoints.of(endpoint_id) if endpoint_id else NO_ROUTE
        pair = (policy, endpoint)
        if endpoint in (OTHER, NO_ROUTE) or pair in self._pairs:
            return pair
        if len(self._pairs) >= PAIRS_MAX:
            return policy, OTHER
        self._pairs.add(pair)
        return pair

    def _is_known(self, labels: Labels) -> bool:
        return self._policies.has(labels[0]) and (labels[1] == NO_ROUTE or self._endpoints.has(labels[1]))
