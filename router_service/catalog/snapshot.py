"""Snapshot: one version of a catalogue, compiled. A decision takes one at its start and keeps it to its end."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import msgspec

from router_service.catalog.content import Content
from router_service.catalog.workloads import Workloads
from router_service.domain.overlay import NOTHING_DIFFERS, Overlay
from router_service.domain.policy import DEFAULT_RETENTION, Policy
from router_service.engine.index import Index
from router_service.engine.slices import made_of

_AT_ONCE = 64  # endpoints changed in one slice


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A content with its index, its version, and the instant (ms) from which on it serves.

    `recorded` is the index of what the catalogue says, `index` the one with the figures of `overlay` over it.
    """

    content: Content
    version: str
    index: Index
    policies: Mapping[str, Policy]
    workloads: Workloads
    loaded_at: int
    recorded: Index
    overlay: Overlay = NOTHING_DIFFERS

    @classmethod
    def of(cls, content: Content, loaded_at: int) -> Snapshot:
        """Compiles a content. Raises InvalidValue where ids repeat or an alias does not mean exactly one model."""
        return made_of(cls.in_slices(content, content.version(), loaded_at))

    @classmethod
    def in_slices(cls, content: Content, version: str, loaded_at: int) -> Generator[None, None, Snapshot]:
        """The same bit by bit, of a content whose version is known: a generator that returns the snapshot."""
        index = yield from Index.in_slices(content.endpoints, content.pool_names)
        policies = {policy.policy_id: _kept(policy) for policy in content.policies}
        for policy in policies.values():
            index.sets_of(policy)
            yield
        return cls(content, version, index, MappingProxyType(policies), Workloads(content.workloads), loaded_at, index)

    def pieces(self) -> list[object]:
        """What it is made of, to be let go of bit by bit: its endpoints, and then what stands on them."""
        parts = (self.index, self.index.rankings, self.index.needs, self.index.costs, self.index.models)
        return [
            *self.recorded.endpoints,
            *self.index.endpoints,
            *(one for part in parts for one in vars(part).values()),
        ]

    def overlaid(self, overlay: Overlay) -> Generator[None, None, Snapshot]:
        """This version with other figures than the catalogue's: a generator that returns it, in slices.

        Differences of endpoints that it does not have are nobody's.
        """
        changed = {}
        for number, (endpoint_id, difference) in enumerate(overlay.differences.items()):
            position = self.recorded.position.get(endpoint_id)
            if position is not None:
                changed[endpoint_id] = difference.over(self.recorded.endpoints[position])
            if number % _AT_ONCE == 0:
                yield
        index = (yield from self.recorded.overlaid(changed)) if changed else self.recorded
        return replace(self, index=index, overlay=overlay)


def _kept(policy: Policy) -> Policy:
    """The policy with the retention that it has where it says nothing."""
    return policy if policy.retention else msgspec.structs.replace(policy, retention=DEFAULT_RETENTION)
