"""One attempt on a backend: sends the request and brings the answer, or says what was seen in its place."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import aiohttp
import msgspec

from router_openai_proxy.asking.chat import Chat
from router_openai_proxy.asking.router_headers import TEXT_MAX
from router_openai_proxy.backends import Backend, Backends
from router_openai_proxy.chunks import Usage
from router_openai_proxy.config.values import Limits
from router_service_client import CallFailed, Try

ERROR_BYTES = 64 * 1024
"""What is read of an answer that is an error."""
_OF_CONNECTING = 0.9
"""Connecting may take this share of an attempt's time: where it takes longer, it is sure that nothing was sent."""


class Answer(NamedTuple):
    """A completion that was not streamed: its bytes, and what they stand for."""

    body: bytes
    parsed: Mapping[str, Any]


class Calls:
    """Makes attempts on backends."""

    def __init__(self, backends: Backends, limits: Limits) -> None:
        self.backends = backends
        self.limits = limits

    async def complete(self, attempt: Try, chat: Chat) -> Answer:
        """A whole answer. Raises CallFailed, or what aiohttp raises."""
        async with self.opened(attempt, chat) as (backend, response):
            body = await read_some(response, self.limits.answer_bytes)
            if len(body) > self.limits.answer_bytes:
                raise CallFailed.not_accepted("the answer is too long")
            answer = parsed(body)
            if answer is None:
                raise CallFailed.not_accepted("the answer is no JSON object")
            if answer.get("error"):
                raise CallFailed.http(response.status, dict(response.headers), backend.without_secret(body))
            tell_usage(attempt, _usage(answer))
            attempt.tell(finish_reason=_finish_reason(answer))
            return Answer(body, answer)

    @asynccontextmanager
    async def opened(self, attempt: Try, chat: Chat) -> AsyncIterator[tuple[Backend, aiohttp.ClientResponse]]:
        """An answer whose status says that it is one, not read yet. Raises CallFailed, or what aiohttp raises."""
        route = self.backends.route(attempt.endpoint_id)
        if route is None:  # can_call passes those over; one may have gone since
            raise CallFailed.not_connected("no backend")
        connect = self.limits.connect_ms / 1000
        if attempt.left is not None:
            connect = min(connect, attempt.left * _OF_CONNECTING)
        silence = self.limits.silence_ms / 1000
        try:
            async with route.backend.session.post(
                route.url,
                data=route.body(chat, attempt.candidate.model),
                headers=route.backend.headers(),
                timeout=aiohttp.ClientTimeout(connect=connect, sock_read=silence),
                allow_redirects=False,
            ) as response:
                if not 200 <= response.status < 300:
                    told = await _read_error(response)
                    raise CallFailed.http(response.status, dict(response.headers), route.backend.without_secret(told))
                yield route.backend, response
        except aiohttp.ClientResponseError as wrong:  # no HTTP, or a body that is not encoded as it says
            raise CallFailed.lost("the answer is no HTTP") from wrong


async def read_some(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body, or as much of it as is more than `most` bytes."""
    pieces, length = [], 0
    async for piece in response.content.iter_any():
        pieces.append(piece)
        length += len(piece)
        if length > most:
            response.close()
            break
    return b"".join(pieces)


async def _read_error(response: aiohttp.ClientResponse) -> bytes:
    """The beginning of an error's body; what breaks off in it takes nothing from its status."""
    try:
        return (await read_some(response, ERROR_BYTES))[:ERROR_BYTES]
    except aiohttp.ClientError:
        return b""


def parsed(body: bytes) -> Mapping[str, Any] | None:
    """A JSON object; None where it is none."""
    try:
        answer = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def tell_usage(attempt: Try, usage: Usage | None) -> None:
    """The tokens, for the report; a number that is none is not told."""
    if usage is not None:
        attempt.tell(input_tokens=_count(usage.prompt_tokens), output_tokens=_count(usage.completion_tokens))


def _count(number: int | None) -> int | None:
    return number if number is not None and 0 <= number < 2**32 else None


def _usage(answer: Mapping[str, Any]) -> Usage | None:
    try:
        return msgspec.convert(answer.get("usage"), Usage | None)
    except msgspec.ValidationError:
        return None


def _finish_reason(answer: Mapping[str, Any]) -> str | None:
    try:
        reason = answer["choices"][0]["finish_reason"]
    except (KeyError, IndexError, TypeError):
        return None
    return reason if isinstance(reason, str) and len(reason) <= TEXT_MAX else None
