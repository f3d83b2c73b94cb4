"""How many calls one connection carries at once; what exceeds that waits here, and not for the service to refuse it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import grpc

from router_service_client.errors import RouterTimeout

AT_ONCE = 64
"""Servers take some 100 streams on a connection. A client that does not know yet how many it may begin begins all of
them, and those beyond are refused."""


def _full(timeout: float) -> RouterTimeout:
    return RouterTimeout(f"the calls before it took more than {timeout:g} s", grpc.StatusCode.DEADLINE_EXCEEDED)


class ThreadPlaces:
    """Places for calls of threads."""

    def __init__(self, many: int = AT_ONCE) -> None:
        self._free = threading.Semaphore(many)

    @contextmanager
    def taken(self, timeout: float) -> Iterator[float]:
        """A place for as long as the block lasts; the seconds that are left of the time-out. Raises RouterTimeout."""
        begun = time.monotonic()
        if not self._free.acquire(timeout=timeout):
            raise _full(timeout)
        try:
            yield max(0.001, timeout - (time.monotonic() - begun))
        finally:
            self._free.release()


class Places:
    """Places for calls of tasks, taken in the order in which they are asked for."""

    def __init__(self, many: int = AT_ONCE) -> None:
        self._free = asyncio.Semaphore(many)

    async def take(self, timeout: float) -> float:
        """Takes a place, which `leave` gives back; the seconds that are left of the time-out. Raises RouterTimeout."""
        if not self._free.locked():
            await self._free.acquire()
            return timeout
        begun = time.monotonic()
        try:
            await asyncio.wait_for(self._free.acquire(), timeout)
        except TimeoutError:
            raise _full(timeout) from None
        return max(0.001, timeout - (time.monotonic() - begun))

    def leave(self) -> None:
        """The call is over."""
        self._free.release()
