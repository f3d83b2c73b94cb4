"""The access log: what Envoy tells of attempts and requests becomes reports, taken as those of any caller are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import grpc

from router_service.asks import LimitReached
from router_service.domain.caller import Caller
from router_service.envoy.v1.access_log_pb2 import StreamAccessLogsMessage, StreamAccessLogsResponse
from router_service.server.admission import Context
from router_service.server.envoy.reports import Reports
from router_service.server.rpc import Calls
from router_service.wire.envoy.log import SWEEP_MS, Joiner, Whole, report_of
from router_service.wire.envoy.messages import parsed

SERVICE = "envoy.service.accesslog.v3.AccessLogService"
METHOD = "StreamAccessLogs"


class AccessLogDoor:
    """StreamAccessLogs. Takes and gives the bytes of messages."""

    def __init__(self, calls: Calls, reports: Reports, clock: Callable[[], int]) -> None:
        self._calls, self._reports, self._clock = calls, reports, clock
        # One for all streams of a caller: where a connection ends, the rest of a request's entries come on another.
        # What one caller tells never meets what another does.
        self._joiners: dict[str, tuple[Caller, Joiner]] = {}

    def handlers(self) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
        """The method by its name."""
        return {METHOD: grpc.stream_unary_rpc_method_handler(self._stream)}

    async def run(self) -> None:
        """Hands on what has waited long enough, whether or not more is told; goes on until it is cancelled."""
        while True:
            await asyncio.sleep(SWEEP_MS / 1000)
            for caller, joiner in list(self._joiners.values()):
                await self._hand_on(caller, joiner.overdue(self._clock()))

    async def _stream(self, _items: Any, context: Context) -> bytes:
        async with self._calls.stream(METHOD, context) as stream:
            try:
                async for raw in stream.items():
                    await self._take(stream.caller(), parsed(StreamAccessLogsMessage, raw))
            finally:
                if self._calls.admission.draining:
                    for caller, joiner in self._joiners.values():
                        self._begin(caller, joiner.rest())
        return StreamAccessLogsResponse().SerializeToString()

    async def _take(self, caller: Caller, message: StreamAccessLogsMessage) -> None:
        _, joiner = self._joiners.get(caller.caller) or (caller, Joiner(self._limited))
        self._joiners[caller.caller] = caller, joiner
        await self._hand_on(caller, joiner.take(message, self._clock()))

    async def _hand_on(self, caller: Caller, wholes: Iterable[Whole]) -> None:
        for whole in wholes:
            await self._reports.take(caller, partial(report_of, *whole))

    def _begin(self, caller: Caller, wholes: Iterable[Whole]) -> None:
        for whole in wholes:
            self._reports.begin(caller, partial(report_of, *whole))

    def _limited(self, limit: str) -> None:
        self._calls.limited(LimitReached(limit, "an entry of the access log was let go of"))
