"""Which doors of Envoy are open, under Envoy's own names of services."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
) -> dict[str, Handlers]:
    """The methods of each open door by the full name of its service.

    The access log comes with external authorisation, since that one learns by nothing else what came of a decision.
    """
    doors: dict[str, Handlers] = {}
    if authz:
        doors[authorization.SERVICE] = AuthorizationDoor(router, calls, told, log).handlers()
        reports = Reports(access_log.METHOD, calls, reporting, log)
        doors[access_log.SERVICE] = AccessLogDoor(calls, reports, clock).handlers()
    if external_processing:
        reports = Reports(processing.METHOD, calls, reporting, log)
        doors[processing.SERVICE] = ProcessingDoor(router, calls, told, reports, clock, log).handlers()
    return doors
