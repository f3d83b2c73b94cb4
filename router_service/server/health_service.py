"""What health says of each service by its name, to whoever asks once and to whoever watches."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from grpc_health.v1 import health_pb2

Status = int
NOT_SERVING, UNKNOWN = health_pb2.HealthCheckResponse.NOT_SERVING, health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


class Statuses:
    """The statuses of one server. Nothing here waits for who watches, who may take nothing of what it is told."""

    def __init__(self) -> None:
        self._now: dict[str, Status] = {}
        self._watching: set[asyncio.Event] = set()
        self._left = False

    def of(self, name: str) -> Status | None:
        """The status of a service, or None where none has this name."""
        return self._now.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Those that there are."""
        return tuple(self._now)

    def set(self, name: str, status: Status) -> None:
        """Says so from now on, unless the server is on its way out."""
        if not self._left:
            self._now[name] = status
            self._wake()

    def leave(self) -> None:
        """The server is on its way out: nothing serves any more, whatever is said after."""
        self._left = True
        self._now = dict.fromkeys(self._now, NOT_SERVING)
        self._wake()

    async def tell(self, name: str, write: Callable[[health_pb2.HealthCheckResponse], Awaitable[None]]) -> None:
        """Writes the status of a service, and again whenever it has changed, until it is cancelled."""
        changed, told = asyncio.Event(), None
        self._watching.add(changed)
        try:
            while True:
                changed.clear()
                status = self._now.get(name, UNKNOWN)
                if status != told:
                    told = status
                    await write(health_pb2.HealthCheckResponse(status=status))
                await changed.wait()
        finally:
            self._watching.discard(changed)

    def _wake(self) -> None:
        for changed in self._watching:
            changed.set()
