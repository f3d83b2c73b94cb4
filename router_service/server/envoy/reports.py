"""Reports that Envoy's doors make: handed on beside what a door does, so that no request and no log waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from router_service.asks import Unanswerable
from router_service.domain.caller import REPORT, Caller
from router_service.domain.problems import InvalidValue
from router_service.domain.report import OutcomeReport
from router_service.server.identity.roles import need
from router_service.server.metrics import UNREAD
from router_service.server.reporting import Reporting
from router_service.server.rpc import Calls

AT_ONCE = 64
"""How many reports are on their way to the store at once."""


class Reports:
    """Takes the reports of one door; whoever brings more than there is room for waits."""

    def __init__(self, door: str, calls: Calls, reporting: Reporting, log: Any) -> None:
        self._door, self._calls, self._reporting, self._log = door, calls, reporting, log
        self._room = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    async def take(self, caller: Caller, make: Callable[[], OutcomeReport]) -> None:
        """Begins to hand a report on. The end of the server waits for it."""
        await self._room.acquire()
        self.begin(caller, make, self._room.release)

    def begin(self, caller: Caller, make: Callable[[], OutcomeReport], done: Callable[[], None] = lambda: None) -> None:
        """The same without waiting for room."""
        task = asyncio.create_task(self._take(caller, make))
        self._tasks.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            done()

        task.add_done_callback(ended)

    async def _take(self, caller: Caller, make: Callable[[], OutcomeReport]) -> None:
        with self._calls.under_way():
            try:
                need(caller, REPORT)  # beside the role of the door, which may be another
                await self._reporting.take(caller, make())
            except InvalidValue as invalid:
                self._reporting.refused(UNREAD, invalid)
                self._log.warning("report refused", door=self._door, problems=list(map(str, invalid.problems)))
            except Unanswerable as error:
                self._log.debug("report refused", door=self._door, why=str(error))  # router_reports_total counts it
            except Exception as fault:  # noqa: BLE001 - a fault in one report must not end the door's work
                self._calls.fault(self._door, fault)
