"""Prometheus metrics (docs/metrics.md). Every label has few values whatever callers send: the catalogue's own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector

from router_service import __version__
from router_service.catalog.snapshot import Snapshot
from router_service.health.board import Board
from router_service.server.answers import Answers
from router_service.server.labels import Values
from router_service.server.limits import LIMITS
from router_service.server.outcomes import Outcomes
from router_service.server.states import Budget, Circuits, Spendings
from router_service.server.tallies import Counts, Times

UNREAD = "(unread)"  # the outcome of a report that makes no sense
POLICIES_MAX = 500
ENDPOINTS_MAX = 200
"""How many policies and endpoints are told by name: the first that answers and reports speak of."""


class Metrics:
    """All metrics of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._policies, self._endpoint_names = Values(POLICIES_MAX), Values(ENDPOINTS_MAX)
        self._answers = Answers(self._policies)
        self._outcomes = Outcomes(self._policies, self._endpoint_names)
        self._turns = Counts(
            "router_circuit_transitions",
            "Circuits that reports to this instance opened or closed.",
            ["endpoint", "to"],
        )
        self._calls = Times(
            "router_rpc_duration_seconds",
            "Time from a call's message to its answer inside the service, by method and gRPC status code.",
            ["method", "code"],
            (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1),
        )
        self._loads = Counts(
            "router_catalog_loads",
            "Loads of the catalogue by outcome: installed, unchanged or rejected.",
            ["outcome"],
            begin=(("installed",), ("unchanged",), ("rejected",)),
        )
        self._reports = Counts(
            "router_reports",
            "Reports by outcome, and by what became of them: accepted, duplicate, or why they were not taken.",
            ["outcome", "result"],
        )
        self._unlisted = Counts(
            "router_report_unlisted_endpoints",
            "Attempts reported on endpoints that the decision did not list: outside the policy, and refused.",
            begin=((),),
        )
        self._limited = Counts(
            "router_limited",
            "Calls, streams and items that were refused because of a limit.",
            ["limit"],
            begin=[(limit,) for limit in LIMITS],
        )
        self._exits = Counts(
            "router_worker_exits", "Workers that ended though nobody had told the server to end.", begin=((),)
        )
        self._traces_dropped = Counts("router_traces_dropped", "Traces that could not be kept.", begin=((),))
        self._traces_swept = Counts("router_traces_swept", "Traces removed at the end of their retention.", begin=((),))
        self._spendings = Spendings()
        for counted in (
            self._answers,
            self._calls,
            self._reports,
            self._unlisted,
            self._outcomes,
            self._turns,
            self._spendings,
            self._limited,
            self._exits,
            self._traces_dropped,
            self._traces_swept,
            self._loads,
        ):
            self.registry.register(counted)
        self._rejected = self._gauge(
            "router_catalog_rejected",
            "1 while the files hold a catalogue that was rejected and the last good one goes on serving.",
        )
        self._endpoints = self._gauge("router_catalog_endpoints", "Endpoints served now.")
        self._loaded_at = self._gauge(
            "router_catalog_loaded_timestamp_seconds", "When the catalogue served now was loaded."
        )
        self._version = self._gauge("router_catalog_version", "The version served now, as a label.", "version")
        self._store_lost = self._gauge("router_store_lost", "1 while the store cannot be reached or written.")
        self._serving = self._gauge(
            "router_serving", "1 while the server answers decisions, as its health service says."
        )
        # A supervisor of several says otherwise in their place.
        self._gauge("router_workers", "Workers that answer calls.").set(1)
        self._gauge("router_workers_wanted", "Workers that there should be, as --workers says.").set(1)
        self._gauge("router_build_info", "The version of this server, as a label.", "version").labels(__version__).set(
            1
        )
        ProcessCollector(registry=self.registry)
        self.answered = self._answers.add
        """Counts an answer of Decide, and whether its request brought its own policy."""
        self.settled = self._outcomes.add
        """Counts what a report says that was taken."""
        self._served: Collection[str] = ()

    def watch(self, board: Board, clock: Callable[[], int]) -> None:
        """Tells of the circuits of a board from now on."""
        board.turned = lambda endpoint_id, to: self._turns.add((self._endpoint_names.of(endpoint_id), to))
        self.registry.register(Circuits(board, clock, lambda: self._served))

    def called(self, method: str, code: str, seconds: float) -> None:
        """Counts a call, or an item of a stream, and its time."""
        self._calls.add((method, code), seconds)

    def limited(self, limit: str) -> None:
        """Counts what was refused because of a limit, one of LIMITS."""
        self._limited.add((limit,))

    def serving(self, *, serving: bool) -> None:
        """Whether decisions are answered."""
        self._serving.set(serving)

    def installed(self, snapshot: Snapshot, *, changed: bool) -> None:
        """A catalogue was loaded and serves."""
        self._loads.add(("installed" if changed else "unchanged",))
        self._rejected.set(0)
        self._endpoints.set(snapshot.index.size)
        self._loaded_at.set(snapshot.loaded_at / 1000)
        self._version.clear()
        self._version.labels(snapshot.version).set(1)
        self._served = snapshot.recorded.position.keys()
        self._policies.serve(snapshot.policies)
        self._endpoint_names.serve(self._served)
        self._answers.serve()
        self._outcomes.serve(snapshot.content.currency)
        self._turns.keep(lambda labels: self._endpoint_names.has(labels[0]))

    def budgets(self, budgets: Mapping[str, Budget], currency: str, asked_at: int) -> None:
        """What the store said of today's budgets at an instant (ms), by policy."""
        self._spendings.tell(budgets, currency, asked_at)

    def reported(self, outcome: str, result: str) -> None:
        """Counts a report; the outcome is one of the domain's, or UNREAD."""
        self._reports.add((outcome, result))

    def unlisted(self, attempts: int) -> None:
        """Counts attempts on endpoints that the decision did not list."""
        self._unlisted.add((), attempts)

    def traces_dropped(self, count: int) -> None:
        """Traces could not be kept."""
        self._traces_dropped.add((), count)

    def swept(self, count: int) -> None:
        """Traces were removed at the end of their retention."""
        self._traces_swept.add((), count)

    def store_lost(self, *, lost: bool) -> None:
        """Whether the store is lost now."""
        self._store_lost.set(lost)
        if lost:
            self._spendings.forget()

    def rejected(self) -> None:
        """A catalogue was rejected; the last good one goes on serving."""
        self._loads.add(("rejected",))
        self._rejected.set(1)

    def _gauge(self, name: str, about: str, *labels: str) -> Gauge:
        return Gauge(name, about, labels, registry=self.registry)
