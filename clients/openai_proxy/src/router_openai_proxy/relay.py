"""Passes a stream on while it comes, as fast as the client takes it, and never of two endpoints."""

from __future__ import annotations

import asyncio
from typing import NoReturn

import aiohttp
from aiohttp import web

from router_openai_proxy import facts
from router_openai_proxy.asking.chat import Chat
from router_openai_proxy.asking.router_headers import TEXT_MAX
from router_openai_proxy.calling import Calls, parsed, read_some, tell_usage
from router_openai_proxy.chunks import NoChunk
from router_openai_proxy.errors import ApiError
from router_openai_proxy.passage import EndpointError, Passage
from router_openai_proxy.sse import TooLong, event
from router_service_client import CallFailed, Candidate, Decision, Run, Try

_HEADERS = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
_BEFORE_THE_DEADLINE = 0.02
"""Seconds before the end of an attempt's time at which a client that takes nothing is given up. So its endpoint is not
blamed for it."""


class Relay:
    """One streamed answer on its way to a client.

    Attributes:
        endpoint_error: what the endpoint said when it gave up in the middle.
    """

    def __init__(self, request: web.Request, chat: Chat, calls: Calls) -> None:
        self._request = request
        self._chat = chat
        self._calls = calls
        self._stall = calls.limits.stall_ms / 1000
        self._chosen: Candidate | None = None
        self._passage = self._new_passage()
        self._response: web.StreamResponse | None = None
        self.endpoint_error: bytes | None = None

    @property
    def started(self) -> bool:
        """Whether the client has got a part of the answer."""
        return self._response is not None

    async def call(self, attempt: Try) -> None:
        """One attempt, to its end. Raises CallFailed, or what aiohttp raises."""
        self._chosen, self.endpoint_error = attempt.candidate, None
        passage = self._passage = self._new_passage()
        async with self._calls.opened(attempt, self._chat) as (backend, response):
            try:
                await self._pass_on(response, attempt, passage)
            except TooLong:
                raise CallFailed.not_accepted("an event is too long") from None
            except NoChunk:
                raise CallFailed.not_accepted("an event is no chunk of a completion") from None
            except EndpointError as wrong:
                self.endpoint_error = backend.without_secret(wrong.data)
                raise CallFailed.http(response.status, dict(response.headers), self.endpoint_error) from None
        if not passage.is_whole:
            raise CallFailed.lost("the stream ended before its end")
        if passage.is_empty:
            raise CallFailed.not_accepted("the stream holds no answer")

    async def finish(self, run: Run[None]) -> web.StreamResponse:
        """The end of an accepted stream."""
        told = facts.block(run.decision or Decision(), self._chosen, run.attempts)
        return await self._end(facts.headers(told), self._passage.ending(told))

    async def break_off(self, error: ApiError) -> web.StreamResponse:
        """The end of a stream that cannot go on: an error in the place of the rest."""
        return await self._end({}, event(error.body()))

    def hang_up(self) -> NoReturn:
        """Ends the connection of a client that takes nothing any more. Raises CancelledError: nothing can be said."""
        if self._request.transport is not None:
            self._request.transport.abort()
        raise asyncio.CancelledError

    def _new_passage(self) -> Passage:
        return Passage(wants_usage=self._chat.wants_usage, limit=self._calls.limits.answer_bytes)

    async def _pass_on(self, response: aiohttp.ClientResponse, attempt: Try, passage: Passage) -> None:
        if response.content_type != "text/event-stream":  # an error within a 2xx, or what was not asked for
            body = await read_some(response, self._calls.limits.answer_bytes)
            if (parsed(body) or {}).get("error"):
                raise EndpointError(body)
            raise CallFailed.not_accepted("the answer is no stream of events")
        async for piece in response.content.iter_any():
            try:
                passage.feed(piece)
            except (EndpointError, NoChunk, TooLong):
                if self.started:  # the words before it are the client's; else another endpoint can still take over
                    await self._flush(attempt, passage)
                raise
            await self._flush(attempt, passage)
            if passage.done:
                return
        passage.end()
        await self._flush(attempt, passage)

    async def _flush(self, attempt: Try, passage: Passage) -> None:
        """Passes on what is there, and waits until the client has taken enough."""
        if passage.spoke:
            attempt.first_token()
        tell_usage(attempt, passage.usage)
        if passage.finish_reason:
            attempt.tell(finish_reason=passage.finish_reason[:TEXT_MAX])
        pieces = passage.taken()
        if not pieces:
            return
        if self._response is None:
            attempt.passed_on = True
            told = facts.block(attempt.decision, attempt.candidate, ())
            await self._start({**facts.headers(told), "x-router-attempts": str(attempt.number)})
        patience = self._stall if attempt.left is None else min(self._stall, attempt.left - _BEFORE_THE_DEADLINE)
        await self._write(pieces, max(0.0, patience))

    async def _start(self, headers: dict[str, str]) -> web.StreamResponse:
        response = web.StreamResponse(headers={**_HEADERS, **headers})
        try:
            await response.prepare(self._request)
        except ConnectionError:
            raise CallFailed.cancelled() from None
        self._response = response
        return response

    async def _write(self, data: bytes, patience: float) -> None:
        """Raises CallFailed where the client takes nothing any more, which is no fault of the endpoint."""
        try:
            async with asyncio.timeout(patience):
                if self._response is not None:
                    await self._response.write(data)
        except (TimeoutError, ConnectionError):
            raise CallFailed.cancelled() from None

    async def _end(self, headers: dict[str, str], data: bytes) -> web.StreamResponse:
        """The last words, behind the head where nothing went before them."""
        try:
            response = self._response or await self._start(headers)
            await self._write(data, self._stall)
            async with asyncio.timeout(self._stall):
                await response.write_eof()
        except (CallFailed, TimeoutError, ConnectionError):
            self.hang_up()
        return response
