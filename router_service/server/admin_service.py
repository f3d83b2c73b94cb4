"""CatalogService's methods that change something: statuses set by hand, and loading now. They need the role admin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from router_service.asks import CatalogRejected, EndpointNotFound, LoadingFailed, RoleMissing
from router_service.catalog.aside import LoadFailed
from router_service.catalog.load import CatalogInvalid
from router_service.health.shared import SharedHealth
from router_service.router import Router
from router_service.server.loading import Loading
from router_service.server.pulse import Pulse
from router_service.server.rpc import Calls
from router_service.store.interface import StoreLost
from router_service.v1 import catalog_service_pb2 as pb
from router_service.wire.read import parse
from router_service.wire.served import read_status, write_served

ADMIN = "admin"


class AdminServicer:
    """SetEndpointStatus and Reload, to stand beside those of CatalogServicer."""

    def __init__(
        self,
        router: Router,
        loading: Loading,
        pulse: Pulse,
        health: SharedHealth,
        calls: Calls,
        clock: Callable[[], int],
        log: Any,
    ) -> None:
        self._router, self._loading, self._pulse, self._health = router, loading, pulse, health
        self._calls, self._clock, self._log = calls, clock, log

    def handlers(self, *, allowed: bool) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
        """The methods by name; where they are not `allowed`, each says which role it needs."""
        methods: dict[str, Callable[[bytes], Awaitable[bytes]]] = {
            "SetEndpointStatus": self._set_endpoint_status,
            "Reload": self._reload,
        }
        return {
            name: grpc.unary_unary_rpc_method_handler(self._calls.unary(name, method if allowed else _refuse))
            for name, method in methods.items()
        }

    async def _set_endpoint_status(self, raw: bytes) -> bytes:
        asked, now = read_status(parse(pb.SetEndpointStatusRequest, raw)), self._clock()
        snapshot = self._router.catalog()
        position = snapshot.recorded.position.get(asked.endpoint_id)
        # One that has left the catalogue can be given back all the same, so that nobody who reuses its id is surprised.
        given_back = not asked.status and self._health.board.health(asked.endpoint_id).by_hand is not None
        if position is None and not given_back:
            raise EndpointNotFound(asked.endpoint_id)
        try:
            kept = await self._health.set_by_hand(asked.endpoint_id, asked.status, asked.reason, now)
        except StoreLost:
            kept = False
        await self._pulse.refresh()
        self._log.warning(
            "status set by hand",
            endpoint=asked.endpoint_id,
            status=asked.status or "(the catalogue's)",
            reason=asked.reason,
            kept=kept,
        )
        snapshot = self._router.catalog()
        position = snapshot.recorded.position.get(asked.endpoint_id)
        served = None if position is None else write_served(snapshot, position, self._health.board, now)
        return pb.SetEndpointStatusResponse(endpoint=served, kept=kept).SerializeToString()

    async def _reload(self, raw: bytes) -> bytes:
        parse(pb.ReloadRequest, raw)
        self._router.catalog()
        try:
            snapshot, changed = await self._loading.now()
        except CatalogInvalid as invalid:
            raise CatalogRejected([str(problem) for problem in invalid.problems]) from None
        except LoadFailed as failed:
            raise LoadingFailed(str(failed)) from None
        return pb.ReloadResponse(catalog_version=snapshot.version, changed=changed).SerializeToString()


async def _refuse(_raw: bytes) -> bytes:
    raise RoleMissing(ADMIN)
