"""CatalogService's methods that change something: statuses set by hand, and loading now.

They need the role admin, and are written to the audit log.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc

from router_service.asks import CatalogRejected, EndpointNotFound, InvalidRequest, LoadingFailed
from router_service.catalog.aside import LoadFailed
from router_service.catalog.load import CatalogInvalid
from router_service.domain.caller import Caller
from router_service.health.shared import SharedHealth
from router_service.router import Router
from router_service.server.identity.audit import Audit, Handle, What, legible
from router_service.server.loading import Loading
from router_service.server.pulse import Pulse
from router_service.server.rpc import Calls
from router_service.store.interface import StoreLost
from router_service.v1 import catalog_service_pb2 as pb
from router_service.wire.read import parse
from router_service.wire.served import AskedStatus, read_status, write_served


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
        audit: Audit,
    ) -> None:
        self._router, self._loading, self._pulse, self._health = router, loading, pulse, health
        self._calls, self._clock, self._audit = calls, clock, audit

    def handlers(self) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
        """The methods by name."""
        methods: dict[str, tuple[Handle, What]] = {
            "SetEndpointStatus": (self._set_endpoint_status, _status_to_set),
            "Reload": (self._reload, lambda _: {}),
        }
        return {
            name: grpc.unary_unary_rpc_method_handler(
                self._calls.unary(name, self._audit.audited(name, handle, what), denied=self._audit.denied(name, what))
            )
            for name, (handle, what) in methods.items()
        }

    async def _set_endpoint_status(self, caller: Caller, raw: bytes) -> bytes:
        asked, now = read_status(parse(pb.SetEndpointStatusRequest, raw)), self._clock()
        if not self._may_set(caller, asked):
            raise EndpointNotFound(asked.endpoint_id)
        try:
            kept = await self._health.set_by_hand(asked.endpoint_id, asked.status, asked.reason, now)
        except StoreLost:
            kept = False
        await self._pulse.refresh()
        snapshot = self._router.catalog()
        position = snapshot.recorded.position.get(asked.endpoint_id)
        served = None if position is None else write_served(snapshot, position, self._health.board, now)
        return pb.SetEndpointStatusResponse(endpoint=served, kept=kept).SerializeToString()

    def _may_set(self, caller: Caller, asked: AskedStatus) -> bool:
        """Whether the caller sees the endpoint.

        One that has left the catalogue can be given back all the same, so that nobody who reuses its id is surprised;
        by those of every policy, since none admits it any more.
        """
        snapshot = self._router.catalog()
        position = snapshot.recorded.position.get(asked.endpoint_id)
        if position is not None:
            return bool(self._router.endpoints(caller, snapshot) >> position & 1)
        by_hand = self._health.board.health(asked.endpoint_id).by_hand
        return caller.policies is None and not asked.status and by_hand is not None

    async def _reload(self, caller: Caller, raw: bytes) -> bytes:
        parse(pb.ReloadRequest, raw)
        self._router.catalog()
        try:
            snapshot, changed = await self._loading.anew()
        except CatalogInvalid as invalid:
            raise CatalogRejected([str(problem) for problem in invalid.problems], caller) from None
        except LoadFailed:
            raise LoadingFailed from None
        return pb.ReloadResponse(catalog_version=snapshot.version, changed=changed).SerializeToString()


def _status_to_set(raw: bytes) -> dict[str, str]:
    """What the audit log says is to be done."""
    try:
        message = parse(pb.SetEndpointStatusRequest, raw)
    except InvalidRequest:
        return {"endpoint": "", "status": "(cannot be read)"}
    try:
        asked = read_status(message)
    except InvalidRequest:  # what somebody tried is worth knowing all the same
        told = {"endpoint": message.endpoint_id, "status": message.status, "reason": message.reason}
        return {name: legible(text) for name, text in told.items()}
    return {"endpoint": asked.endpoint_id, "status": asked.status or "(the catalogue's)", "reason": asked.reason}
