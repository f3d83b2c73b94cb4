"""RouterService: the door of callers that speak the service's own protocol."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import grpc
from google.rpc import code_pb2

from router_service.asks import Answer, Ask, Unanswerable
from router_service.catalog.slices import unhurried
from router_service.domain.caller import READ, Caller
from router_service.router import Router
from router_service.server.admission import Context
from router_service.server.identity.roles import need
from router_service.server.rpc import Calls
from router_service.server.told import Told
from router_service.v1 import error_reason_pb2 as reason_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.answer import decide_response
from router_service.wire.errors import item_error, kind_of
from router_service.wire.read import AskReader, parse
from router_service.wire.trace import read_explained_trace
from router_service.wire.write import explain_form

SERVICE = pb.DESCRIPTOR.services_by_name["RouterService"].full_name


class RouterServicer:
    """Decide, DecideStream and Explain, all through one router. Takes and gives the bytes of messages."""

    def __init__(self, router: Router, calls: Calls, told: Told) -> None:
        self._router, self._calls, self._tell = router, calls, told
        self._read = AskReader().read

    def handlers(self) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
        """The methods by name. Neither side has a serialiser: messages are read and written in wire."""
        return {
            "Decide": grpc.unary_unary_rpc_method_handler(self._calls.unary("Decide", self._decide)),
            "DecideStream": grpc.stream_stream_rpc_method_handler(self._decide_stream),
            "Explain": grpc.unary_unary_rpc_method_handler(self._calls.unary("Explain", self._explain)),
        }

    def _decide(self, caller: Caller, raw: bytes) -> bytes | Awaitable[bytes]:
        return self._answer(caller, parse(pb.DecideRequest, raw))

    async def _explain(self, caller: Caller, raw: bytes) -> bytes:
        request = parse(pb.ExplainRequest, raw)
        async with self._calls.admission.lane("Explain", caller) as pause_s:
            if request.trace_id:
                need(caller, READ)
                explained = await self._router.explain_trace(caller, read_explained_trace(request), pause_s)
            else:
                explained = await self._router.explain(caller, self._read(request), pause_s)
            return await unhurried(explain_form(explained, request.request_id), pause_s)

    async def _decide_stream(self, _items: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
        async with self._calls.stream("DecideStream", context) as stream:
            async for raw in stream.items():
                answer = self._item(stream.caller(), raw)
                yield answer if isinstance(answer, bytes) else await answer

    def _item(self, caller: Caller, raw: bytes) -> bytes | Awaitable[bytes]:
        """The answer to one item; whatever is wrong with it stays with it."""
        start, request_id = time.perf_counter(), ""
        try:
            request = parse(pb.DecideStreamRequest, raw).decide
            request_id = request.request_id
            answer = self._answer(caller, request)
        except Exception as error:  # noqa: BLE001 - a fault in one item must not end the stream
            return self._item_failed(error, request_id, start)
        if isinstance(answer, bytes):
            self._calls.item("DecideStream", grpc.StatusCode.OK, start)
            return answer
        return self._awaited_item(answer, request_id, start)

    async def _awaited_item(self, answer: Awaitable[bytes], request_id: str, start: float) -> bytes:
        try:
            answered = await answer
        except Exception as error:  # noqa: BLE001 - a fault in one item must not end the stream
            return self._item_failed(error, request_id, start)
        self._calls.item("DecideStream", grpc.StatusCode.OK, start)
        return answered

    def _item_failed(self, problem: Exception, request_id: str, start: float) -> bytes:
        if isinstance(problem, Unanswerable):
            self._calls.limited(problem)
            code, error = kind_of(problem)[0], item_error(problem)
        else:
            code = grpc.StatusCode.INTERNAL
            status = self._calls.fault("DecideStream", problem)
            error = reason_pb.ItemError(
                code=code_pb2.INTERNAL, message=status.message, reason=reason_pb.ERROR_REASON_INTERNAL
            )
        self._calls.item("DecideStream", code, start)
        return pb.DecideStreamResponse(request_id=request_id, error=error).SerializeToString()

    def _answer(self, caller: Caller, request: pb.DecideRequest) -> bytes | Awaitable[bytes]:
        """The answer at once, or one to await where a budget must be asked."""
        ask = self._read(request)
        answer = self._router.decide(caller, ask)
        if isinstance(answer, Answer):
            return self._told(caller, ask, answer, request.request_id)
        return self._awaited(caller, ask, answer, request.request_id)

    async def _awaited(self, caller: Caller, ask: Ask, answer: Awaitable[Answer], request_id: str) -> bytes:
        return self._told(caller, ask, await answer, request_id)

    def _told(self, caller: Caller, ask: Ask, answer: Answer, request_id: str) -> bytes:
        self._tell(caller, answer, inline=ask.inline is not None)
        return decide_response(answer, request_id)
