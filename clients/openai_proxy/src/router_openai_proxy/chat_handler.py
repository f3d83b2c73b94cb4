"""POST /v1/chat/completions: decides, calls down the list, and answers, as a whole or as a stream."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiohttp import web

from router_openai_proxy import facts
from router_openai_proxy.accepting import Accepting
from router_openai_proxy.asking.asked import Asked, read_request
from router_openai_proxy.calling import Answer
from router_openai_proxy.chunks import with_member
from router_openai_proxy.errors import ApiError
from router_openai_proxy.guard import TooCostly
from router_openai_proxy.middlewares import CALLER, read_body, tell
from router_openai_proxy.outcomes import error_of_refusal, error_of_router, error_of_run
from router_openai_proxy.proxy import PROXY, Proxy
from router_openai_proxy.relay import Relay
from router_openai_proxy.traffic import shutting_down
from router_service_client import Candidate, Refusal, RouterError, RouterTimeout, Run, Try

T = TypeVar("T")
log = logging.getLogger(__name__)


async def chat(request: web.Request) -> web.StreamResponse:
    """Answers a chat completion. Raises ApiError where there is no answer."""
    begun = time.monotonic()
    proxy = request.app[PROXY]
    asked = read_request(await read_body(request), request.headers, proxy.access(request[CALLER]))
    one = Exchange(request, proxy, asked, begun)
    return await (one.stream() if asked.chat.stream else one.whole())


class Exchange:
    """One request and its answer."""

    def __init__(self, request: web.Request, proxy: Proxy, asked: Asked, begun: float) -> None:
        self._request = request
        self._proxy = proxy
        self._asked = asked
        self._begun = begun

    async def whole(self) -> web.Response:
        """An answer in one piece, which passed the checks."""
        accepting = Accepting(self._asked.chat)
        last: list[Answer] = []

        async def call(attempt: Try) -> Answer:
            last[:] = [await self._proxy.calls.complete(attempt, self._asked.chat)]
            return last[0]

        run = await self._run(call, accepting)
        # That a model will not speak of something is an answer to its client, though not one to go on with.
        refuses = run.failure is not None and run.failure.kind == "content_refused"
        if run.decision is None or not (run.outcome == "accepted" or refuses):
            raise error_of_run(run)
        told = facts.block(run.decision, _answered(run), run.attempts)
        body = with_member(last[0].body, "router", told)
        return web.Response(body=body, headers={"Content-Type": "application/json", **facts.headers(told)})

    async def stream(self) -> web.StreamResponse:
        """An answer as it comes."""
        relay = Relay(self._request, self._asked.chat, self._proxy.calls)
        try:
            run = await self._run(relay.call, None)
        except asyncio.CancelledError:
            if self._proxy.traffic.cutting and relay.started:
                return await relay.break_off(shutting_down())
            raise
        if run.outcome == "cancelled":  # it took nothing any more, so no end can be told it either
            relay.hang_up()
        if run.outcome == "accepted":
            return await relay.finish(run)
        if not relay.started:
            raise error_of_run(run)
        return await relay.break_off(error_of_run(run, relay.endpoint_error))

    async def _run(self, call: Callable[[Try], Awaitable[T]], accept: Callable[[T], str] | None) -> Run[T]:
        """The failover loop. Raises ApiError where nothing was decided, or what was decided is a refusal."""
        asked, reach = self._asked, self._proxy.reach
        left_out = await reach.left_out(asked.policy_id, asked.data_class)
        fields = asked.fields_after(self._gone_ms())
        if left_out:
            fields = {**fields, "exclude_endpoints": left_out}
        try:
            run = await self._proxy.router.run(
                None,
                call,
                accept=accept,
                replayable=self._proxy.config.replayable,
                can_call=self._can_call,
                policy_id=asked.policy_id,
                workload=asked.workload,
                data_class=asked.data_class,
                operation_id=asked.operation_id,
                **fields,
            )
        except RouterError as wrong:
            if isinstance(wrong, RouterTimeout):
                asked.fields_after(self._gone_ms())  # the time may be over that the request had, and not the service's
            log.warning("no decision: %s", wrong, extra={"told": {"code": wrong.code.name, "reason": wrong.reason}})
            raise error_of_router(wrong) from wrong
        except TooCostly:
            text = "The schema of the request takes too long to check an answer against."
            raise ApiError(400, "schema_too_costly", text) from None
        self._tell(run)
        if run.refusal is not None:
            raise error_of_refusal(run.refusal, len(left_out))
        return run

    def _gone_ms(self) -> int:
        return round((time.monotonic() - self._begun) * 1000)

    def _can_call(self, candidate: Candidate) -> bool:
        return self._proxy.backends.route(candidate.endpoint_id) is not None

    def _tell(self, run: Run[T]) -> None:
        """What the log says of the request, and which catalogue serves."""
        answer = run.decision or run.refusal or Refusal()
        if run.decision is not None:
            self._proxy.reach.seen(self._asked.policy_id, run.decision.catalog_version)
        tell(
            self._request,
            trace_id=answer.trace_id,
            outcome=run.outcome,
            endpoint_id=run.attempts[-1].endpoint_id if run.attempts else None,
            attempts=len(run.attempts),
        )


def _answered(run: Run[Answer]) -> Candidate | None:
    """The candidate that the last attempt was made on."""
    listed = run.decision.candidates if run.decision else ()
    return next((one for one in listed if run.attempts and one.endpoint_id == run.attempts[-1].endpoint_id), None)
