"""Which doors of Envoy are open, under Envoy's own names of services."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import grpc

from router_service.router import Router
from router_service.server.envoy import access_log, authorization, processing
from router_service.server.envoy.access_log import AccessLogDoor
from router_service.server.envoy.authorization import AuthorizationDoor
from router_service.server.envoy.processing import ProcessingDoor
from router_service.server.envoy.reports import Reports
from router_service.server.reporting import Reporting
from router_service.server.rpc import Calls
from router_service.server.told import Told

Handlers: TypeAlias = "Mapping[str, grpc.RpcMethodHandler[Any, Any]]"


@dataclass(slots=True)
class Doors:
    """The methods of each open door by the full name of its service, and what they do beside, until it is cancelled."""

    services: dict[str, Handlers] = field(default_factory=dict)
    work: list[Callable[[], Coroutine[Any, Any, None]]] = field(default_factory=list)


def open_doors(
    router: Router,
    calls: Calls,
    told: Told,
    reporting: Reporting,
    clock: Callable[[], int],
    log: Any,
    *,
    authz: bool,
    external_processing: bool,
) -> Doors:
    """The doors that are asked for.

    The access log comes with external authorisation, since that one learns by nothing else what came of a decision.
    """
    doors = Doors()
    if authz:
        doors.services[authorization.SERVICE] = AuthorizationDoor(router, calls, told, log).handlers()
        reports = Reports(access_log.METHOD, calls, reporting, log)
        access = AccessLogDoor(calls, reports, clock)
        doors.services[access_log.SERVICE] = access.handlers()
        doors.work.append(access.run)
    if external_processing:
        reports = Reports(processing.METHOD, calls, reporting, log)
        doors.services[processing.SERVICE] = ProcessingDoor(router, calls, told, reports, clock, log).handlers()
    return doors
