"""Sight: what of a catalogue its caller sees. All that is not the caller's is, to the caller, not there."""

from __future__ import annotations

from router_service.catalog.snapshot import Snapshot
from router_service.domain.caller import Caller
from router_service.domain.decision import Explanation
from router_service.domain.policy import Policy
from router_service.domain.workload import Workload
from router_service.engine.cache import Bounded
from router_service.engine.filters import admitted

_REMEMBERED = 256


def default_policy(caller: Caller, snapshot: Snapshot) -> str:
    """The policy of the caller's requests that name none; empty where there is none."""
    own = caller.default_policy or snapshot.content.default_policy
    return own if own in snapshot.policies and caller.may_use(own) else ""


def policies(caller: Caller, snapshot: Snapshot) -> dict[str, Policy]:
    """The caller's policies by their ids, in the order of these."""
    ids = sorted(snapshot.policies, key=str.encode)
    return {policy_id: snapshot.policies[policy_id] for policy_id in ids if caller.may_use(policy_id)}


def workloads(caller: Caller, snapshot: Snapshot) -> dict[str, Workload]:
    """Every version of the caller's workloads by their places, in the order of these."""
    return {place: one for place, one in snapshot.workloads.by_place.items() if caller.may_name(one.name)}


class Sight:
    """The endpoints that a caller sees, which is worked out once for each version and each set of policies."""

    def __init__(self) -> None:
        self._known: Bounded[tuple[str, frozenset[str]], int] = Bounded(_REMEMBERED)

    def endpoints(self, caller: Caller, snapshot: Snapshot) -> int:
        """The set of the endpoints that a policy of the caller's admits; all where every policy is the caller's."""
        recorded = snapshot.recorded
        if caller.policies is None:
            return recorded.everything
        key = (snapshot.version, caller.policies)
        bits = self._known.get(key)
        if bits is None:
            bits = 0
            for policy in policies(caller, snapshot).values():
                bits |= admitted(recorded, recorded.sets_of(policy))
            self._known[key] = bits
        return bits

    def seen(self, caller: Caller, snapshot: Snapshot, told: Explanation) -> tuple[Explanation, int]:
        """What the caller sees of an explanation on a snapshot, and how many endpoints of it are hidden."""
        if caller.policies is None:
            return told, 0
        position, bits = snapshot.recorded.position, self.endpoints(caller, snapshot)
        seen = tuple([one for one in told.endpoints if bits >> position[one.endpoint.endpoint_id] & 1])
        return Explanation(told.result, seen), len(told.endpoints) - len(seen)
