"""Which role each method needs, whatever door it stands at; a method without a row cannot be served."""

from __future__ import annotations

from collections.abc import Mapping

from router_service.asks import RoleMissing
from router_service.domain.caller import ADMIN, DECIDE, READ, REPORT, Caller

# One of them is enough. `Explain` of a trace needs `read` beyond that, since it tells what was decided.
ROLES_OF: Mapping[str, tuple[str, ...]] = {
    "Decide": (DECIDE,),
    "DecideStream": (DECIDE,),
    "Explain": (DECIDE, READ),
    "Report": (REPORT,),
    "ReportStream": (REPORT,),
    "GetTrace": (READ,),
    "ListTraces": (READ,),
    "ListEndpoints": (READ,),
    "ListPolicies": (READ,),
    "ListWorkloads": (READ,),
    "WatchCatalog": (READ,),
    "SetEndpointStatus": (ADMIN,),
    "Reload": (ADMIN,),
    # Envoy's doors: a proxy that asks by external processing reports on the same stream.
    "Check": (DECIDE,),
    "Process": (DECIDE,),
    "StreamAccessLogs": (REPORT,),
}


def need(caller: Caller, *roles: str) -> None:
    """Raises RoleMissing where the caller has none of the roles."""
    if caller.roles.isdisjoint(roles):
        raise RoleMissing(roles, caller)
