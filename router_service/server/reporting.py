"""Reports on their way to the router, whichever door they came by: what becomes of each is counted."""

from __future__ import annotations

from router_service.asks import EndpointNotListed, InvalidRequest, NoStore, StoreUnavailable, TraceNotFound
from router_service.domain.caller import Caller
from router_service.domain.problems import InvalidValue
from router_service.domain.report import OutcomeReport
from router_service.router import Router
from router_service.server.metrics import Metrics
from router_service.store.interface import Taken

# What a report counts as that was not taken.
_RESULTS: dict[type[Exception], str] = {
    InvalidRequest: "invalid",
    InvalidValue: "invalid",
    TraceNotFound: "unknown_trace",
    EndpointNotListed: "unlisted_endpoint",
    StoreUnavailable: "store_lost",
    NoStore: "no_store",
}
_FAULT = "fault"


class Reporting:
    """Hands reports to the router; one for all doors of a server."""

    def __init__(self, router: Router, metrics: Metrics) -> None:
        self._router, self._metrics = router, metrics

    async def take(self, caller: Caller, report: OutcomeReport, *, patient: bool = True) -> Taken:
        """Takes a report and counts what became of it. Raises Unanswerable."""
        try:
            taken = await self._router.report(caller, report, patient=patient)
        except Exception as problem:
            self.refused(report.outcome, problem)
            raise
        self._metrics.reported(report.outcome, "duplicate" if taken.duplicates and not taken.accepted else "accepted")
        return taken

    def refused(self, outcome: str, problem: Exception) -> None:
        """Counts a report that was not taken; `outcome` is UNREAD where it makes no sense."""
        if isinstance(problem, EndpointNotListed):
            self._metrics.unlisted(len(problem.problems))
        self._metrics.reported(outcome, _RESULTS.get(type(problem), _FAULT))
