"""External processing: a stream for each request, on which Envoy asks, and later tells which endpoint answered."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any

import grpc

from router_service.asks import Answer, Draining, InvalidRequest, Unanswerable
from router_service.domain.caller import Caller
from router_service.domain.decision import Decision
from router_service.engine.cache import Bounded
from router_service.envoy.v1 import processing_pb2 as pb
from router_service.router import Router
from router_service.server.admission import Context
from router_service.server.envoy.narrowing import Narrowing
from router_service.server.envoy.reports import Reports
from router_service.server.identity.metadata import metadata_of
from router_service.server.rpc import Calls
from router_service.server.streams import Stream
from router_service.server.told import Told
from router_service.wire.envoy import processing
from router_service.wire.envoy.answers import retry_after_s
from router_service.wire.envoy.ask import AskReader, by_header
from router_service.wire.envoy.errors import Deniable, Denial, denial_of_error, denial_of_refusal
from router_service.wire.envoy.keys import CONTEXT_PREFIX
from router_service.wire.envoy.messages import parsed
from router_service.wire.envoy.pool import Exchange, Pool, cancelled_report, outcome_report
from router_service.wire.envoy.route import Route

SERVICE = "envoy.service.ext_proc.v3.ExternalProcessor"
METHOD = "Process"
ROUTES_REMEMBERED = 256
PLACE = "initial_metadata "


class ProcessingDoor:
    """Process. Takes and gives the bytes of messages."""

    def __init__(
        self, router: Router, calls: Calls, told: Told, reports: Reports, clock: Callable[[], int], log: Any
    ) -> None:
        self._router, self._calls, self.tell, self._log = router, calls, told, log
        self.reports, self.clock = reports, clock
        self._asks, self._narrowing = AskReader(), Narrowing(router)
        self._routes: Bounded[frozenset[tuple[str, str]], Route] = Bounded(ROUTES_REMEMBERED)
        self._pool: Pool | None = None

    def handlers(self) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
        """The method by its name."""
        return {METHOD: grpc.stream_stream_rpc_method_handler(self._process)}

    async def _process(self, _items: Any, context: Context) -> AsyncIterator[bytes]:
        async with self._calls.stream(METHOD, context) as stream:
            request = _Request(self, stream, _context_of(context))
            try:
                with stream.until_end():
                    async for raw in stream.items():
                        start = time.perf_counter()
                        answer = await request.step(parsed(pb.ProcessingRequest, raw))
                        self._calls.item(METHOD, grpc.StatusCode.OK, start)
                        yield answer
            except Draining:
                # A stream that fails takes its request down, one that ends well lets it go on by itself.
                if not request.goes_on():
                    raise
            finally:
                request.end()

    async def decide(
        self, caller: Caller, context: frozenset[tuple[str, str]], message: pb.ProcessingRequest
    ) -> tuple[Answer, Pool, str, bool] | None:
        """The answer to a request with its pool and its id, and whether it was narrowed. Raises one of Deniable.

        None where the proxy has none of the catalogue's endpoints for it.
        """
        route, said, pool = self._route(context), processing.said_in_headers(message), self._current_pool()
        had = pool.within(processing.hints_in(message))
        if route.clusters is not None:
            had &= route.clusters
        if not had:
            return None
        ask = self._asks.read(route, said)
        narrowed = self._narrowing.narrowed(caller, ask, had)
        try:
            answer = self._router.decide(caller, narrowed)
        except InvalidRequest as invalid:
            raise by_header(invalid) from None
        if not isinstance(answer, Answer):
            answer = await answer
        self.tell(caller, answer)
        return answer, pool, said.request_id, narrowed is not ask

    def denied(self, denial: Denial, error: Exception | None = None) -> bytes:
        """The end of a request that was not decided."""
        if isinstance(error, Unanswerable):
            self._calls.limited(error)
        level = self._log.warning if denial.status >= 500 else self._log.info
        level("denied", door=METHOD, code=denial.code, message=denial.message)
        return processing.ended(denial, "", None)

    def _route(self, context: frozenset[tuple[str, str]]) -> Route:
        known = self._routes.get(context)
        if known is None:
            known = self._routes[context] = Route.read(dict(context), PLACE + CONTEXT_PREFIX)
        return known

    def _current_pool(self) -> Pool:
        snapshot = self._router.catalog()
        if self._pool is None or self._pool.version != snapshot.version:
            self._pool = Pool.of(snapshot)
        return self._pool


class _Request:
    """One request on its stream: asked for first, then told of."""

    def __init__(self, door: ProcessingDoor, stream: Stream, context: frozenset[tuple[str, str]]) -> None:
        self._door, self._stream, self._context = door, stream, context
        self._decision: Decision | None = None
        self._exchange: Exchange | None = None
        self._caller: Caller | None = None

    def goes_on(self) -> bool:
        """Whether the request has its decision, and so can do without its stream; what came of it is not told then."""
        self._exchange = None
        return self._decision is not None

    async def step(self, message: pb.ProcessingRequest) -> bytes:
        """The answer to one message."""
        problem = processing.mode_problem(message)
        if problem is not None:
            return self._door.denied(problem)
        kind = message.WhichOneof("request")
        if kind == "request_headers":
            return await self._begin(message)
        if kind == "response_headers":
            return self._respond(message)
        return processing.UNCHANGED.get(kind or "", processing.UNCHANGED["response_headers"])

    def end(self) -> None:
        """The stream has ended; a request that nothing was told of was given up by its client."""
        exchange, caller, self._exchange = self._exchange, self._caller, None
        if exchange is not None and caller is not None:
            self._door.reports.begin(caller, partial(cancelled_report, exchange))

    async def _begin(self, message: pb.ProcessingRequest) -> bytes:
        caller, door = self._stream.caller(), self._door
        try:
            decided = await door.decide(caller, self._context, message)
        except Deniable as error:
            return door.denied(denial_of_error(error), error)
        if decided is None:
            return door.denied(processing.NO_ENDPOINT)
        answer, pool, request_id, narrowed = decided
        result = answer.result
        if not isinstance(result, Decision):
            wait = retry_after_s(result.retry_at, answer.now)
            return processing.ended(denial_of_refusal(result, narrowed=narrowed), answer.trace_id, wait)
        listed = tuple((one.endpoint_id, pool.by_id[one.endpoint_id]) for one in result.candidates)
        self._decision, self._caller = result, caller
        self._exchange = Exchange(answer.trace_id, request_id, listed, answer.now)
        return processing.go_on(result, [place for _, place in listed], answer.trace_id)

    def _respond(self, message: pb.ProcessingRequest) -> bytes:
        exchange, caller, decision = self._exchange, self._caller, self._decision
        self._exchange = None
        if exchange is None or caller is None or decision is None:
            return processing.UNCHANGED["response_headers"]
        status, headers = processing.status_and_headers(message)
        told = processing.told_of_response(message)
        make = partial(outcome_report, exchange, status, headers, told, self._door.clock())
        self._door.reports.begin(caller, make)
        return processing.answered(decision, exchange.trace_id)


def _context_of(context: Context) -> frozenset[tuple[str, str]]:
    """What the operator wrote for the route: metadata of the stream under names of its own."""
    metadata: Mapping[str, Any] = dict(metadata_of(context))
    return frozenset(
        (key.removeprefix(CONTEXT_PREFIX), value)
        for key, value in metadata.items()
        if key.startswith(CONTEXT_PREFIX) and isinstance(value, str)
    )
