"""Streams: read item by item, each in its turn; one that waits for what comes next ends gently with the server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import grpc

from router_service.asks import Draining
from router_service.domain.caller import Caller
from router_service.server.admission import Admission, Context, too_large

_Next = TypeVar("_Next")
_LOOK_S_A_BYTE = 40e-9  # what an item takes to be read and answered, by its size, at the most


class Stream:
    """One stream under way. `caller` finds its caller anew, and raises where that one has lost the right to it."""

    __slots__ = ("_admission", "_context", "_ending", "_key", "_largest", "_task", "_waiting", "caller")

    def __init__(
        self, method: str, caller: Callable[[], Caller], key: str, context: Context, admission: Admission
    ) -> None:
        """Made in the task of the stream's call; `key` is whose turns its items take."""
        self._largest = admission.message_bytes(method)
        self.caller, self._key, self._context, self._admission = caller, key, context, admission
        self._task: asyncio.Task[Any] | None = asyncio.current_task()
        self._ending = False
        self._waiting = False

    async def items(self) -> AsyncIterator[bytes]:
        """The messages of the caller, until it closes its side. Raises Draining, or LimitReached."""
        while (raw := await self._next(self._context.read)) is not grpc.aio.EOF:
            if len(raw) > self._largest:
                raise too_large(len(raw), self._largest)
            await self._admission.wait_if_wanted(self._key, time.perf_counter())
            self._admission.turns.took(self._key, _LOOK_S_A_BYTE * len(raw))
            yield raw

    async def told(self, news: AsyncIterator[_Next]) -> AsyncIterator[_Next]:
        """What there is to tell, as it comes. Raises Draining at its end, since it ends with the server alone."""
        while (one := await self._next(lambda: anext(news, None))) is not None:
            yield one
        raise Draining

    def end(self) -> None:
        """Ends it before what comes next: what was read is answered, and what was not can be sent to another server."""
        self._ending = True
        if self._waiting:
            self.break_off()

    def break_off(self) -> None:
        """Ends it at once, whatever it is about."""
        self._ending = True
        if self._task is not None:
            self._task.cancel()

    @contextmanager
    def until_end(self) -> Iterator[None]:
        """Raises Draining where what is done in it was ended."""
        try:
            yield
        except asyncio.CancelledError:
            if not self._ending or self._task is None:
                raise
            self._task.uncancel()
            raise Draining from None

    async def _next(self, ask: Callable[[], Awaitable[_Next]]) -> _Next:
        if self._ending:
            raise Draining
        self._waiting = True
        found = await ask()
        self._waiting = False
        return found
