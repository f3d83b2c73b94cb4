"""The requests under way: how many may be, and how they end when the proxy does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from router_openai_proxy.errors import ApiError


def shutting_down() -> ApiError:
    """What a request is answered that does not end in time."""
    return ApiError(503, "shutting_down", "This proxy is on its way out; ask again.", final=False)


class Traffic:
    """Counts requests. `draining` is whether the proxy is on its way out, `cutting` whether it waits no longer."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._tasks: set[asyncio.Task[object]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self.draining = False
        self.cutting = False

    def __len__(self) -> int:
        return len(self._tasks)

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """A request, as long as it lasts. Raises ApiError where there are too many."""
        if len(self._tasks) >= self._limit:
            text = f"This proxy answers {self._limit} requests at once already; ask again."
            raise ApiError(503, "too_many_requests", text, final=False, retry_after_ms=1000)
        task = cast("asyncio.Task[object]", asyncio.current_task())  # a handler always runs in one
        self._tasks.add(task)
        self._idle.clear()
        try:
            yield
        finally:
            self._tasks.discard(task)
            if not self._tasks:
                self._idle.set()

    async def ended(self, seconds: float) -> bool:
        """Waits until no request is under way, at most so long; whether there is none."""
        try:
            await asyncio.wait_for(self._idle.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def cut(self) -> None:
        """Cancels those that are left; they say so to their clients."""
        self.cutting = True
        for task in list(self._tasks):
            task.cancel()
