"""Narrowing: a proxy that lacks some endpoints gets no decision that lists them (docs/envoy.md, Clusters)."""

from __future__ import annotations

import msgspec

from router_service.asks import Ask
from router_service.catalog.snapshot import Snapshot
from router_service.domain.caller import Caller
from router_service.engine.bits import positions
from router_service.engine.cache import Bounded
from router_service.engine.filters import admitted
from router_service.router import Router
from router_service.sight import default_policy

REMEMBERED = 256


class Narrowing:
    """Asks as they are for a proxy that has some endpoints alone."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._known: Bounded[tuple[str, str, frozenset[str]], tuple[str, ...]] = Bounded(REMEMBERED)

    def narrowed(self, caller: Caller, ask: Ask, had: frozenset[str]) -> Ask:
        """The ask without what the proxy lacks; the same where it lacks nothing. Raises CatalogNotLoaded."""
        snapshot = self._router.catalog()
        missing = self._missing(snapshot, ask.policy_id or default_policy(caller, snapshot), had)
        if not missing:
            return ask
        request = msgspec.structs.replace(ask.request, exclude_endpoints=missing)
        if ask.named is None:
            return msgspec.structs.replace(ask, request=request)
        own = msgspec.structs.replace(ask.named.own, exclude_endpoints=missing)
        return msgspec.structs.replace(ask, request=request, named=msgspec.structs.replace(ask.named, own=own))

    def _missing(self, snapshot: Snapshot, policy_id: str, had: frozenset[str]) -> tuple[str, ...]:
        """The endpoints that the policy admits and the proxy lacks: what it does not admit need not be left out."""
        key = (snapshot.version, policy_id, had)
        known = self._known.get(key)
        if known is None:
            policy, recorded = snapshot.policies.get(policy_id), snapshot.recorded
            admits = 0 if policy is None else admitted(recorded, recorded.sets_of(policy))
            ids = (recorded.endpoints[position].endpoint_id for position in positions(admits))
            known = self._known[key] = tuple(one for one in ids if one not in had)
        return known
