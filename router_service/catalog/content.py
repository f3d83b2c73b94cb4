"""What a catalogue says, and the version that is the hash of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import msgspec

from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import Policy
from router_service.domain.thresholds import Thresholds
from router_service.domain.workload import Workload

_DEFAULT_THRESHOLDS = Thresholds()
_LATER = frozenset(("address", "upstream_model"))
"""Facts of an endpoint that came when versions were out already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of a catalogue, valid and whole; its endpoints, policies and workloads in the order of their ids."""

    currency: str
    endpoints: tuple[Endpoint, ...]
    policies: tuple[Policy, ...]
    default_policy: str = ""
    pool_names: tuple[str, ...] = ()
    workloads: tuple[Workload, ...] = ()
    thresholds: Thresholds = _DEFAULT_THRESHOLDS

    def version(self) -> str:
        """The first 32 hex digits of the SHA-256 of the content in one canonical form.

        The order of files, of keys and of comments has no part in it; every fact, policy and default has. Workloads,
        thresholds and addresses have where there are any, so that a catalogue without them keeps the version that it
        had before.
        """
        digest = hashlib.sha256()
        for part in self._parts():
            digest.update(part.encode())
            digest.update(b"\n")
        return digest.hexdigest()[:32]

    def _parts(self) -> Iterable[str]:
        yield _canonical([self.currency, self.default_policy, sorted(self.pool_names)])
        for endpoint in self.endpoints:
            facts = msgspec.structs.asdict(endpoint)
            yield _canonical({name: fact for name, fact in facts.items() if fact or name not in _LATER})
        for policy in self.policies:
            yield _canonical(msgspec.structs.asdict(policy))
        for workload in self.workloads:
            yield _canonical({"workload": [workload.label, workload.schema_id, workload.needs.values]})
        if self.thresholds != _DEFAULT_THRESHOLDS:
            yield _canonical({"circuits": msgspec.structs.asdict(self.thresholds)})


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_fraction)


def _fraction(value: object) -> str:
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no canonical form")
