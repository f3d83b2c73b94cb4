"""RouterService: the door of callers that speak the service's own protocol."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import grpc
from google.rpc import code_pb2

from router_service.domain.decision import Refusal
from router_service.router import Answer, Ask, Router, Unanswerable
from router_service.server.metrics import Metrics
from router_service.server.rpc import Calls, Context
from router_service.v1 import error_reason_pb2 as reason_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1 import router_service_pb2_grpc as pb_grpc
from router_service.wire.errors import item_error, kind_of
from router_service.wire.read import read_ask
from router_service.wire.write import decide_response, explain_response


class RouterServicer(pb_grpc.RouterServiceServicer):
    """Decide, DecideStream and Explain, all through one router."""

    def __init__(self, router: Router, calls: Calls, metrics: Metrics, log: Any) -> None:
        self._router, self._calls, self._metrics, self._log = router, calls, metrics, log

    async def Decide(self, request: pb.DecideRequest, context: Context) -> pb.DecideResponse:
        return await self._calls.unary("Decide", self._decide, request, context)

    async def Explain(self, request: pb.ExplainRequest, context: Context) -> pb.ExplainResponse:
        return await self._calls.unary("Explain", self._explain, request, context)

    async def DecideStream(
        self, requests: AsyncIterator[pb.DecideStreamRequest], context: Context
    ) -> AsyncIterator[pb.DecideStreamResponse]:
        async for item in requests:
            yield self._item(item.decide)

    def _decide(self, request: pb.DecideRequest) -> pb.DecideResponse:
        ask = read_ask(request)
        answer = self._router.decide(ask)
        self._tell(ask, answer)
        return decide_response(answer, request.request_id)

    def _explain(self, request: pb.ExplainRequest) -> pb.ExplainResponse:
        return explain_response(self._router.explain(read_ask(request)), request.request_id)

    def _item(self, request: pb.DecideRequest) -> pb.DecideStreamResponse:
        """The answer to one item; whatever is wrong with it stays with it."""
        start, code = time.perf_counter(), grpc.StatusCode.OK
        try:
            answer = self._decide(request)
            if answer.HasField("decision"):
                return pb.DecideStreamResponse(request_id=request.request_id, decision=answer.decision)
            return pb.DecideStreamResponse(request_id=request.request_id, refusal=answer.refusal)
        except Unanswerable as problem:
            code = kind_of(problem)[0]
            return pb.DecideStreamResponse(request_id=request.request_id, error=item_error(problem))
        except Exception as fault:  # noqa: BLE001 - a fault in one item must not end the stream
            code = grpc.StatusCode.INTERNAL
            status = self._calls.fault("DecideStream", fault)
            error = reason_pb.ItemError(
                code=code_pb2.INTERNAL, message=status.message, reason=reason_pb.ERROR_REASON_INTERNAL
            )
            return pb.DecideStreamResponse(request_id=request.request_id, error=error)
        finally:
            self._calls.item("DecideStream", code, start)

    def _tell(self, ask: Ask, answer: Answer) -> None:
        """One line a decision at debug, one a refusal at info."""
        result = answer.result
        self._metrics.answered(result, inline=ask.inline is not None)
        if isinstance(result, Refusal):
            self._log.info(
                "refused", trace_id=answer.trace_id, policy=result.policy_id, code=result.code, reasons=result.reasons
            )
        else:
            self._log.debug(
                "decided",
                trace_id=answer.trace_id,
                policy=result.policy_id,
                candidates=[one.endpoint_id for one in result.candidates],
            )
