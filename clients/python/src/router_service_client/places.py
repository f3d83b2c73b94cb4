"""How many calls one connection carries at once; what exceeds that waits here, and not for the service to refuse it."""

from __future__ import annotations

import asyncio
import time

import grpc

from router_service_client.errors import RouterTimeout

AT_ONCE = 64
"""Servers take some 100 streams on a connection. A client that does not know yet how many it may begin begins all of
them, and those beyond are refused."""


class Places:
    """Places for calls, taken in the order in which they are asked for."""

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
            told = f"the calls before it took more than {timeout:g} s"
            raise RouterTimeout(told, grpc.StatusCode.DEADLINE_EXCEEDED) from None
        return max(0.001, timeout - (time.monotonic() - begun))

    def leave(self) -> None:
        """The call is over."""
        self._free.release()
