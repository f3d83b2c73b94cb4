"""The access log: what Envoy tells of attempts and requests becomes reports, taken as those of any caller are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import grpc

from router_service.domain.caller import Caller
from router_service.envoy.v1.access_log_pb2 import StreamAccessLogsMessage, StreamAccessLogsResponse
from router_service.server.admission import Context
from router_service.server.envoy.reports import Reports
from router_service.server.rpc import Calls
from router_service.wire.envoy.log import Joiner, report_of
from router_service.wire.envoy.messages import parsed

SERVICE = "envoy.service.accesslog.v3.AccessLogService"
METHOD = "StreamAccessLogs"


class AccessLogDoor:
    """StreamAccessLogs. Takes and gives the bytes of messages."""

    def __init__(self, calls: Calls, reports: Reports, clock: Callable[[], int]) -> None:
        self._calls, self._reports, self._clock = calls, reports, clock
        # One for all streams of a caller: where a connection ends, the rest of a request's entries come on another.
        # What one caller tells never meets what another does.
        self._joiners: dict[str, Joiner] = {}

    def handlers(self) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
        """The method by its name."""
        return {METHOD: grpc.stream_unary_rpc_method_handler(self._stream)}

    async def _stream(self, _items: Any, context: Context) -> bytes:
        async with self._calls.stream(METHOD, context) as stream:
            async for raw in stream.items():
                await self._take(stream.caller(), parsed(StreamAccessLogsMessage, raw))
        return StreamAccessLogsResponse().SerializeToString()

    async def _take(self, caller: Caller, message: StreamAccessLogsMessage) -> None:
        joiner = self._joiners.setdefault(caller.caller, Joiner())
        for whole in joiner.take(message, self._clock()):
            await self._reports.take(caller, partial(report_of, *whole))
