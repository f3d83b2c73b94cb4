"""Tells reports in a task of its own, and what is left of them on closing."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import grpc

from router_service_client.errors import RouterError
from router_service_client.reports import FLUSH_SECONDS, LIMIT, Outbox, ReportsLost
from router_service_client.v1.report_pb2 import Report


class ReportTask:
    """Sends reports one after the other; starts with the first one.

    Args:
        send: sends one report; raises RouterError.
        limit: reports that wait at most.
        draw: a random number from 0 to 1, for the waits between repetitions.
    """

    def __init__(
        self, send: Callable[[Report], Awaitable[object]], limit: int = LIMIT, draw: Callable[[], float] = random.random
    ) -> None:
        self._send = send
        self.outbox = Outbox(draw, limit)
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    def put(self, report: Report) -> None:
        """Takes a report, to be sent soon; once it is closed, the report is dropped, which is counted and logged."""
        if not self.outbox.put(report, closed=self._closed):
            return
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work(), name="router-service-reports")

    async def flush(self, seconds: float = FLUSH_SECONDS) -> bool:
        """Waits until all are sent, at most so long; whether they are."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=seconds)
        return not self.outbox.waiting

    async def close(self, seconds: float = FLUSH_SECONDS) -> ReportsLost | None:
        """Sends what still waits, for so long at most; what could not be delivered, or None. Again: nothing."""
        if self._closed:
            return None
        self._closed = True
        await self.flush(seconds)
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        return self.outbox.lost()

    async def _work(self) -> None:
        while self.outbox.waiting:
            error = None
            try:
                await self._send(self.outbox.waiting[0])
            except RouterError as failure:
                error = failure
            except Exception as failure:  # noqa: BLE001 - one report must never end the telling of the others
                error = RouterError(repr(failure), grpc.StatusCode.UNKNOWN)
            self.outbox.answered(error)
            await asyncio.sleep(self.outbox.wait)
