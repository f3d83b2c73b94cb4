"""What the health service tells: of each service by its name, and of what a server can go on without."""

from __future__ import annotations

from collections.abc import Iterable

from grpc_health.v1 import health_pb2

from router_service.server.health_service import Statuses

CATALOG_HEALTH = "catalog"
"""Whether the files hold a good catalogue; the last good version serves whatever they say."""
STORE_HEALTH = "store"
"""Whether there is a store and it works; decisions go on without it, budgets as their policies say."""
WORKERS_HEALTH = "workers"
"""Whether all workers of an instance answer; it serves with those that do."""

_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Serving:
    """The health of one server. `statuses` are what is told of it."""

    def __init__(self) -> None:
        self.statuses = Statuses()
        self.services: tuple[str, ...] = ()
        self.now = False
        """Whether calls are answered now, as everybody is told."""

    async def begin(self, services: Iterable[str]) -> None:
        """Nothing serves yet; `services` are the full names of those that will, all at the same time."""
        self.services = tuple(services)
        for name in ("", *self.services, CATALOG_HEALTH, STORE_HEALTH, WORKERS_HEALTH):
            self.statuses.set(name, _NOT_SERVING)

    async def serve(self) -> None:
        """All services do, from now on."""
        for name in ("", *self.services):
            self.statuses.set(name, _SERVING)
        self.now = True

    async def leave(self) -> None:
        """Nothing does any more, whatever is told after."""
        self.now = False
        self.statuses.leave()

    async def catalog(self, good: bool) -> None:
        """See CATALOG_HEALTH."""
        self.statuses.set(CATALOG_HEALTH, _SERVING if good else _NOT_SERVING)

    async def store(self, good: bool) -> None:
        """See STORE_HEALTH."""
        self.statuses.set(STORE_HEALTH, _SERVING if good else _NOT_SERVING)

    async def workers(self, good: bool) -> None:
        """See WORKERS_HEALTH."""
        self.statuses.set(WORKERS_HEALTH, _SERVING if good else _NOT_SERVING)
