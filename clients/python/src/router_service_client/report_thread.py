"""Tells reports in a thread of its own, and what is left of them on closing."""

from __future__ import annotations

import atexit
import random
import threading
import time
from collections.abc import Callable

import grpc

from router_service_client.errors import RouterError
from router_service_client.reports import FLUSH_SECONDS, LIMIT, Outbox, ReportsLost
from router_service_client.v1.report_pb2 import Report


class ReportThread:
    """Sends reports one after the other; starts with the first one.

    Args:
        send: sends one report; raises RouterError.
        limit: reports that wait at most.
        draw: a random number from 0 to 1, for the waits between repetitions.
    """

    def __init__(
        self, send: Callable[[Report], object], limit: int = LIMIT, draw: Callable[[], float] = random.random
    ) -> None:
        self._send = send
        self.outbox = Outbox(draw, limit)
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def put(self, report: Report) -> None:
        """Takes a report, to be sent soon; once it is closed, the report is dropped, which is counted and logged."""
        with self._changed:
            if not self.outbox.put(report, closed=self._closed):
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="router-service-reports", daemon=True)
                self._thread.start()
                atexit.register(self.close)  # of a client that nobody closes
            self._changed.notify_all()

    def flush(self, seconds: float = FLUSH_SECONDS) -> bool:
        """Waits until all are sent, at most so long; whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.outbox.waiting, seconds)

    def close(self, seconds: float = FLUSH_SECONDS) -> ReportsLost | None:
        """Sends what still waits, for so long at most; what could not be delivered, or None. Again: nothing."""
        with self._changed:
            if self._closed:
                return None
            self._closed = True
            self._changed.wait_for(lambda: not self.outbox.waiting, seconds)
            loss = self.outbox.lost()
            self.outbox.waiting.clear()
            self._changed.notify_all()
        atexit.unregister(self.close)
        return loss

    def _work(self) -> None:
        while (report := self._first()) is not None:
            error = None
            try:
                self._send(report)
            except RouterError as failure:
                error = failure
            except Exception as failure:  # noqa: BLE001 - one report must never end the telling of the others
                error = RouterError(repr(failure), grpc.StatusCode.UNKNOWN)
            with self._changed:
                if self.outbox.waiting:
                    self.outbox.answered(error)
                self._changed.notify_all()

    def _first(self) -> Report | None:
        """The next to be sent, when its time has come; None once there will be none."""
        with self._changed:
            until = time.monotonic() + self.outbox.wait
            while not (self._closed and not self.outbox.waiting):
                left = until - time.monotonic()
                if self.outbox.waiting and left <= 0:
                    return self.outbox.waiting[0]
                self._changed.wait(left if self.outbox.waiting else None)
            return None
