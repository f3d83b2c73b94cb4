"""What every call has around it: errors become rich statuses, calls are counted and timed, faults stay inside."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from inspect import isawaitable
from typing import Any, NoReturn, TypeVar

import grpc
from google.rpc import code_pb2, error_details_pb2, status_pb2

from router_service.asks import Unanswerable
from router_service.server.metrics import Metrics
from router_service.v1 import error_reason_pb2 as reason_pb
from router_service.wire.errors import DOMAIN, kind_of, status_of

_DETAILS = "grpc-status-details-bin"
_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
# Servicer contexts differ in grpcio's stubs only by their messages.
Context = grpc.aio.ServicerContext[Any, Any]


class Calls:
    """Runs handlers; one for all services of a server."""

    def __init__(self, metrics: Metrics, log: Any) -> None:
        self._metrics, self._log = metrics, log
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def idle(self) -> None:
        """Waits until no call and no stream of this server's own services is under way."""
        await self._idle.wait()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Counts a call or a stream for as long as it takes."""
        self._under_way += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    def unary(
        self, method: str, handle: Callable[[_Request], _Response | Awaitable[_Response]]
    ) -> Callable[[_Request, Context], Awaitable[_Response]]:
        """A handler that answers one call, or ends it with the status that its error stands for."""
        called, clock, ok = self._metrics.called, time.perf_counter, grpc.StatusCode.OK.name

        async def answer(request: _Request, context: Context) -> _Response:
            start, code = clock(), ok
            self._under_way += 1
            if self._under_way == 1:
                self._idle.clear()
            try:
                response = handle(request)
                return response if type(response) is bytes or not isawaitable(response) else await response
            except Unanswerable as error:
                code = kind_of(error)[0].name
                await _abort(context, kind_of(error)[0], status_of(error))
            except Exception as fault:  # noqa: BLE001 - no fault may show its inside to a caller
                code = grpc.StatusCode.INTERNAL.name
                await _abort(context, grpc.StatusCode.INTERNAL, self.fault(method, fault))
            finally:
                called(method, code, clock() - start)
                self._under_way -= 1
                if not self._under_way:
                    self._idle.set()

        return answer

    def fault(self, method: str, fault: Exception) -> status_pb2.Status:
        """Logs a fault of the service's own; the caller learns that there was one, and nothing of its inside."""
        self._log.error("fault", method=method, exc_info=fault)
        message = "the server met a fault of its own; its log says more"
        status = status_pb2.Status(code=code_pb2.INTERNAL, message=message)
        reason = reason_pb.ErrorReason.Name(reason_pb.ERROR_REASON_INTERNAL)
        status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN))
        return status

    def item(self, method: str, code: grpc.StatusCode, start: float) -> None:
        """Counts one item of a stream that began at `start` (of time.perf_counter)."""
        self._metrics.called(method, code.name, time.perf_counter() - start)


async def _abort(context: Context, code: grpc.StatusCode, status: status_pb2.Status) -> NoReturn:
    await context.abort(code, status.message, ((_DETAILS, status.SerializeToString()),))
