"""What the health service tells: of each service by its name, and of what a server can go on without."""

from __future__ import annotations

from collections.abc import Iterable

from grpc_health.v1 import health, health_pb2

CATALOG_HEALTH = "catalog"
"""Whether the files hold a good catalogue; the last good version serves whatever they say."""
STORE_HEALTH = "store"
"""Whether there is a store and it works; decisions go on without it, budgets as their policies say."""
WORKERS_HEALTH = "workers"
"""Whether all workers of an instance answer; it serves with those that do."""

_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Serving:
    """The health of one server. `answers` is the service that tells it."""

    def __init__(self) -> None:
        self.answers = health.aio.HealthServicer()
        self.services: tuple[str, ...] = ()
        self.now = False
        """Whether calls are answered now, as everybody is told."""

    async def begin(self, services: Iterable[str]) -> None:
        """Nothing serves yet; `services` are the full names of those that will, all at the same time."""
        self.services = tuple(services)
        for name in ("", *self.services, CATALOG_HEALTH, STORE_HEALTH, WORKERS_HEALTH):
            await self.answers.set(name, _NOT_SERVING)

    async def serve(self) -> None:
        """All services do, from now on."""
        for name in ("", *self.services):
            await self.answers.set(name, _SERVING)
        self.now = True

    async def leave(self) -> None:
        """Nothing does any more, whatever is told after."""
        self.now = False
        await self.answers.enter_graceful_shutdown()

    async def catalog(self, good: bool) -> None:
        """See CATALOG_HEALTH."""
        await self.answers.set(CATALOG_HEALTH, _SERVING if good else _NOT_SERVING)

    async def store(self, good: bool) -> None:
        """See STORE_HEALTH."""
        await self.answers.set(STORE_HEALTH, _SERVING if good else _NOT_SERVING)

    async def workers(self, good: bool) -> None:
        """See WORKERS_HEALTH."""
        await self.answers.set(WORKERS_HEALTH, _SERVING if good else _NOT_SERVING)
