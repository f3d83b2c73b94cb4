"""Reports on their way: a bounded queue that is told in the background, and what could not be told."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from router_service_client.errors import (
    LimitExceeded,
    RouterError,
    RouterUnavailable,
    TraceNotFound,
    Unauthenticated,
)
from router_service_client.v1.report_pb2 import Report

LIMIT = 1000
"""Reports that wait at most."""
FLUSH_SECONDS = 5.0
"""How long closing waits for them."""
_BACKOFF_BASE, _BACKOFF_CAP = 0.2, 5.0
LIMITED_TIMES = 10
"""How often a report is sent that meets a limit: one that is itself too large must not hold up the others for ever."""

log = logging.getLogger("router_service_client")


class ReportsLost(Exception):
    """Raised on closing: these reports were not delivered. They may be sent again, by any client; each counts once."""

    def __init__(self, reports: tuple[Report, ...], dropped: int) -> None:
        super().__init__(f"{len(reports) + dropped} reports were not delivered, {dropped} of them for lack of room")
        self.reports = reports
        self.dropped = dropped


@dataclass(slots=True)
class Outbox:
    """The reports that wait, and counts of what became of the others.

    `delivered` were answered; `refused` were answered with an error that no repetition cures; `dropped` found no room;
    `unwanted` met a service without a store. `wait` is how many seconds to wait before the next one is sent.
    """

    random: Callable[[], float]
    limit: int = LIMIT
    waiting: deque[Report] = field(default_factory=deque)
    delivered: int = 0
    refused: int = 0
    dropped: int = 0
    unwanted: int = 0
    wait: float = 0.0
    _failures: int = 0
    _limited: int = 0
    _lost: bool = False

    def put(self, report: Report, *, closed: bool = False) -> bool:
        """Takes a report, and says whether it did; one that finds no room is counted and logged."""
        if not isinstance(report, Report):
            text = f"a Report is told, not {type(report).__name__}"
            raise TypeError(text)
        if closed or len(self.waiting) >= self.limit:
            self.dropped += 1
            why = "the client is closed" if closed else f"{self.limit} reports wait already"
            log.error("report of trace %s dropped: %s", report.trace_id, why)
            return False
        self.waiting.append(report)
        return True

    def answered(self, error: RouterError | None) -> None:
        """Notes what came of sending the first one: it goes, unless the service could not be reached or was busy."""
        away = isinstance(error, RouterUnavailable) and error.reason != "ERROR_REASON_NO_STORE"
        # A token that cannot be had for now is no answer of the service's either.
        away = away or (isinstance(error, Unauthenticated) and not error.reason)
        self._limited += isinstance(error, LimitExceeded)
        if away or (isinstance(error, LimitExceeded) and self._limited < LIMITED_TIMES):
            self._lost = self._lost or away
            self.wait = self.random() * min(_BACKOFF_CAP, _BACKOFF_BASE * 2 ** min(self._failures, 8))
            self._failures += 1
            return
        sent_before, self._lost, self._failures, self._limited, self.wait = self._lost, False, 0, 0, 0.0
        report = self.waiting.popleft()
        # Under a retention of 0 a report ends its trace: where the answer to the first sending was lost, this is it.
        if error is None or (sent_before and isinstance(error, TraceNotFound)):
            self.delivered += 1
        elif error.reason == "ERROR_REASON_NO_STORE":
            self.unwanted += 1
        else:
            self.refused += 1
            log.error("report of trace %s refused: %s", report.trace_id, error)

    def lost(self) -> ReportsLost | None:
        """What closing has to tell: those that still wait and those that were dropped; None where there are none."""
        if not self.waiting and not self.dropped:
            return None
        loss = ReportsLost(tuple(self.waiting), self.dropped)
        log.error("%s", loss)
        return loss
