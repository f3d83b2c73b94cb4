"""Messages that are on their way: a call whose message does not come is refused after a time.

gRPC itself waits for it as long as the connection lives, and keeps what has come of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import grpc

from router_service.asks import LimitReached
from router_service.server.admission import Context
from router_service.server.limits import STALLED

LOOK_EVERY_S = 5.0
Handlers = Mapping[str, "grpc.RpcMethodHandler[Any, Any]"]


class Arrivals:
    """The messages of unary calls of one server. `refuse` ends a call with the status of an error."""

    def __init__(self, refuse: Callable[[Context, LimitReached], Awaitable[None]], stalled_s: float) -> None:
        self._refuse, self._stalled_s = refuse, stalled_s
        self._since: dict[Context, float] = {}

    def watched(self, handlers: Handlers) -> Handlers:
        """The same methods, of which those that take one message and give one read it under watch.

        To gRPC they are methods that may take several; on the wire that is the same.
        """
        return {
            name: handler
            if handler.request_streaming or handler.response_streaming
            else grpc.stream_unary_rpc_method_handler(self._reading(handler.unary_unary))
            for name, handler in handlers.items()
        }

    async def run(self) -> None:
        """Goes on until it is cancelled."""
        while True:
            await asyncio.sleep(min(LOOK_EVERY_S, self._stalled_s / 4))
            await self.look(time.perf_counter())

    async def look(self, now: float) -> None:
        """Refuses every call that has waited for so long; `now` is that of time.perf_counter."""
        late = [context for context, since in self._since.items() if now - since > self._stalled_s]
        for context in late:
            error = LimitReached(STALLED, f"the message did not come within {self._stalled_s:g} s")
            # AbortError tells only that it was refused; the call itself meets the same one where it reads.
            with contextlib.suppress(grpc.aio.AbortError):
                await self._refuse(context, error)

    def _reading(self, answer: Any) -> Any:
        since, clock, end = self._since, time.perf_counter, grpc.aio.EOF

        async def read(_items: AsyncIterator[bytes], context: Context) -> bytes:
            since[context] = clock()
            try:
                message = await context.read()
            finally:
                del since[context]
            if message is end:
                # Its caller is gone, or gRPC has refused the message for its size: there is nobody to answer.
                raise asyncio.CancelledError
            answered: bytes = await answer(message, context)
            return answered

        return read
