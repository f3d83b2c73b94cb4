"""Checks: what Envoy's external authorisation asks, as the route that it came by and an Ask."""

from __future__ import annotations

import msgspec

from router_service.asks import Ask
from router_service.engine.cache import Bounded
from router_service.envoy.v1.authorization_pb2 import CheckRequest
from router_service.wire.envoy.ask import REMEMBERED, REMEMBERED_SIZE, AskReader, identified
from router_service.wire.envoy.glimpse import Glimpse, glimpse
from router_service.wire.envoy.messages import parsed, said_in_check
from router_service.wire.envoy.route import Route

ROUTES_REMEMBERED = 256
_Key = tuple[int, tuple[bytes, ...]]


class CheckReader:
    """Reads checks; one that says what another said before is known by its bytes. The memory is bounded."""

    def __init__(self) -> None:
        self._asks = AskReader()
        self._routes: Bounded[tuple[bytes, ...], Route] = Bounded(ROUTES_REMEMBERED)
        # An entry holds its route, so that no other can have its identity meanwhile.
        self._known: Bounded[_Key, tuple[Route, Ask]] = Bounded(REMEMBERED)

    def read(self, raw: bytes) -> tuple[Route, Ask]:
        """The route and what is asked. Raises one of Deniable."""
        seen = glimpse(raw)
        if seen is not None:
            route = self._routes.get(seen.context)
            known = None if route is None else self._known.get((id(route), seen.said))
            if known is not None:
                return known[0], identified(known[1], seen.request_id)
        return self._read(raw, seen)

    def _read(self, raw: bytes, seen: Glimpse | None) -> tuple[Route, Ask]:
        request = parsed(CheckRequest, raw)
        route = None if seen is None else self._routes.get(seen.context)
        if route is None:
            route = Route.read(dict(request.attributes.context_extensions))
        ask = self._asks.read(route, said_in_check(request))
        if seen is not None:
            self._routes[seen.context] = route
            if sum(map(len, seen.said)) <= REMEMBERED_SIZE:
                self._known[id(route), seen.said] = (route, msgspec.structs.replace(ask, operation_id=""))
        return route, ask
