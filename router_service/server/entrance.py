"""The entrance: gRPC's server, with what calls pass before the methods that they are for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import grpc
from grpc_health.v1 import health
from grpc_reflection.v1alpha import reflection

from router_service.server import limits
from router_service.server.arrivals import Arrivals, Handlers
from router_service.server.beside import Beside
from router_service.server.health_service import Statuses
from router_service.server.identity.access import Access
from router_service.server.identity.metadata import Methods
from router_service.server.rpc import Calls
from router_service.server.settings import Settings
from router_service.server.waiting import Waiting


class Entrance:
    """That of one server. `server` is gRPC's own, and `probed` what its health port answers."""

    def __init__(
        self,
        settings: Settings,
        services: Mapping[str, Handlers],
        calls: Calls,
        access: Access,
        statuses: Statuses,
        told: tuple[str, ...],
    ) -> None:
        """`services` are the methods of each service by its full name; reflection tells of those in `told`."""
        ports = sum(one is not None for one in (settings.admin, settings.health))
        self.connections_most = limits.make_room_for(settings.limits, ports)
        """How many connections there may be."""
        admission = calls.admission
        largest = max(admission.message_bytes(method) for handlers in services.values() for method in handlers)
        self.server = grpc.aio.server(
            options=limits.transport_options(
                self.connections_most,
                largest,
                shares_port=settings.seat is not None,
                age_grace_s=limits.PROCESSING_GRACE_S if settings.envoy_processing else limits.AGE_GRACE_S,
            ),
            maximum_concurrent_rpcs=limits.rpcs_at_once(settings.limits, largest),
        )
        waiting = Waiting(limits.arriving(largest, limits.ARRIVING_BYTES), limits.ARRIVING_QUEUE, limits.STALLED_S)
        arrivals = Arrivals(calls, access, waiting)
        self.beside = tuple(
            Beside(calls.refuse, admission, size, limits.STALLED_S) for size in (largest, limits.PROBE_BYTES)
        )
        self.waiting = (waiting, *(one.waiting for one in self.beside))
        here, on_port = self.beside
        all_services = {name: arrivals.watched(handlers) for name, handlers in services.items()}
        all_services[health.SERVICE_NAME] = here.health(statuses)
        if settings.reflection:
            names = (*told, health.SERVICE_NAME, reflection.SERVICE_NAME)
            all_services[reflection.SERVICE_NAME] = here.reflection(names)
        too_much: grpc.RpcMethodHandler[Any, Any] = grpc.stream_stream_rpc_method_handler(calls.too_much_metadata)
        self.server.add_generic_rpc_handlers([Methods(name, one, too_much) for name, one in all_services.items()])
        self.probed = Methods(health.SERVICE_NAME, on_port.health(statuses), too_much)
