"""Calls that begin: their caller is found before their message is read, and the message is waited for so long alone.

gRPC itself would read the message of a stranger, wait for it as long as the connection lives, and keep what has come.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import grpc

from router_service.asks import Unanswerable
from router_service.server.admission import Context, key_of
from router_service.server.identity.access import Access
from router_service.server.rpc import FOUND, Calls
from router_service.server.waiting import Waiting

_LOOK_AGAIN_S = 1.0
Handlers = Mapping[str, "grpc.RpcMethodHandler[Any, Any]"]


class Arrivals:
    """The messages of calls that bring one, of one server; those of streams are read by the streams themselves."""

    def __init__(self, calls: Calls, access: Access, waiting: Waiting) -> None:
        self._calls, self._access, self._waiting = calls, access, waiting

    def watched(self, handlers: Handlers) -> Handlers:
        """The same methods, of which those that take one message read it under watch.

        To gRPC they are methods that may take several, which begin before any has come; on the wire that is the same.
        """
        return {name: self._watched(name, handler) for name, handler in handlers.items()}

    def _watched(self, name: str, handler: grpc.RpcMethodHandler[Any, Any]) -> grpc.RpcMethodHandler[Any, Any]:
        if handler.request_streaming:
            return handler
        made: grpc.RpcMethodHandler[Any, Any]
        if handler.response_streaming:
            made = grpc.stream_stream_rpc_method_handler(self._streaming(name, handler.unary_stream))
        else:
            made = grpc.stream_unary_rpc_method_handler(self._answering(name, handler.unary_unary))
        return made

    def _answering(self, method: str, answer: Any) -> Any:
        message_of = self._message

        async def read(_items: AsyncIterator[bytes], context: Context) -> bytes:
            answered: bytes = await answer(await message_of(method, context), context)
            return answered

        return read

    def _streaming(self, method: str, answers: Any) -> Any:
        async def read(_items: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
            message = await self._message(method, context)
            async for answer in answers(message, context):
                yield answer

        return read

    async def _message(self, method: str, context: Context) -> bytes:
        access, begun = self._access, time.perf_counter()
        try:
            version, caller = access.version, access.find(context)
            key = key_of(caller, context)
            message = await self._waiting.message(key, context, begun)
        except Unanswerable as error:
            await self._calls.turn_away(method, context, error)
        # Whose right may have ended while the message came is looked for again, where the call is answered.
        if access.version is version and time.perf_counter() - begun < _LOOK_AGAIN_S:
            FOUND.set((caller, key))
        return message
