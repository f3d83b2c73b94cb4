"""Prometheus metrics. Every label has few values whatever callers send: policies are the catalogue's own."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

from router_service.catalog.snapshot import Snapshot
from router_service.domain.decision import Decision, Refusal
from router_service.server.tallies import Counts, Times

DECIDED = "decided"
INLINE_POLICY = "(inline)"
UNREAD = "(unread)"  # the outcome of a report that makes no sense


class Metrics:
    """All metrics of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._decisions = Counts(
            "router_decisions",
            "Answers of Decide by policy and outcome: decided, or the literal name of the refusal.",
            ["policy", "outcome"],
        )
        self._calls = Times(
            "router_rpc_duration_seconds",
            "Time from a call's message to its answer inside the service, by method and gRPC status code.",
            ["method", "code"],
            (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1),
        )
        self.registry.register(self._decisions)
        self.registry.register(self._calls)
        self._reloads = Counter(
            "router_catalog_loads",
            "Loads of the catalogue by outcome: installed, unchanged or rejected.",
            ["outcome"],
            registry=self.registry,
        )
        self._rejected = Gauge(
            "router_catalog_rejected",
            "1 while the files hold a catalogue that was rejected and the last good one goes on serving.",
            registry=self.registry,
        )
        self._endpoints = Gauge("router_catalog_endpoints", "Endpoints served now.", registry=self.registry)
        self._loaded_at = Gauge(
            "router_catalog_loaded_timestamp_seconds",
            "When the catalogue served now was loaded.",
            registry=self.registry,
        )
        self._version = Gauge(
            "router_catalog_version", "The version served now, as a label.", ["version"], registry=self.registry
        )

        self._traces_dropped = Counter(
            "router_traces_dropped", "Traces that could not be kept.", registry=self.registry
        )
        self._traces_swept = Counter(
            "router_traces_swept", "Traces removed at the end of their retention.", registry=self.registry
        )
        self._store_lost = Gauge(
            "router_store_lost", "1 while the store cannot be reached or written.", registry=self.registry
        )
        self._reports = Counter(
            "router_reports",
            "Reports by outcome, and by what became of them: accepted, duplicate, or why they were not taken.",
            ["outcome", "result"],
            registry=self.registry,
        )
        self._unlisted = Counter(
            "router_report_unlisted_endpoints",
            "Attempts reported on endpoints that the decision did not list: outside the policy, and refused.",
            registry=self.registry,
        )

    def answered(self, result: Decision | Refusal, *, inline: bool) -> None:
        """Counts an answer of Decide."""
        policy = INLINE_POLICY if inline else result.policy_id
        self._decisions.add((policy, DECIDED if isinstance(result, Decision) else result.code))

    def called(self, method: str, code: str, seconds: float) -> None:
        """Counts a call, or an item of a stream, and its time."""
        self._calls.add((method, code), seconds)

    def installed(self, snapshot: Snapshot, *, changed: bool) -> None:
        """A catalogue was loaded and serves."""
        self._reloads.labels("installed" if changed else "unchanged").inc()
        self._rejected.set(0)
        self._endpoints.set(snapshot.index.size)
        self._loaded_at.set(snapshot.loaded_at / 1000)
        self._version.clear()
        self._version.labels(snapshot.version).set(1)

    def reported(self, outcome: str, result: str) -> None:
        """Counts a report; the outcome is one of the domain's, or UNREAD."""
        self._reports.labels(outcome, result).inc()

    def unlisted(self, attempts: int) -> None:
        """Counts attempts on endpoints that the decision did not list."""
        self._unlisted.inc(attempts)

    def traces_dropped(self, count: int) -> None:
        """Traces could not be kept."""
        self._traces_dropped.inc(count)

    def swept(self, count: int) -> None:
        """Traces were removed at the end of their retention."""
        self._traces_swept.inc(count)

    def store_lost(self, *, lost: bool) -> None:
        """Whether the store is lost now."""
        self._store_lost.set(lost)

    def rejected(self) -> None:
        """A catalogue was rejected; the last good one goes on serving."""
        self._reloads.labels("rejected").inc()
        self._rejected.set(1)
