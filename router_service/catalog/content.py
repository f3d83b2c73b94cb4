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


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of a catalogue, valid and whole; endpoints and policies stand in the order of their ids."""

    currency: str
    endpoints: tuple[Endpoint, ...]
    policies: tuple[Policy, ...]
    default_policy: str = ""
    pool_names: tuple[str, ...] = ()

    def version(self) -> str:
        """The first 32 hex digits of the SHA-256 of the content in one canonical form.

        The order of files, of keys and of comments has no part in it; every fact, policy and default has.
        """
        digest = hashlib.sha256()
        for part in self._parts():
            digest.update(part.encode())
            digest.update(b"\n")
        return digest.hexdigest()[:32]

    def _parts(self) -> Iterable[str]:
        yield _canonical([self.currency, self.default_policy, sorted(self.pool_names)])
        for endpoint in self.endpoints:
            yield _canonical(msgspec.structs.asdict(endpoint))
        for policy in self.policies:
            yield _canonical(msgspec.structs.asdict(policy))


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_fraction)


def _fraction(value: object) -> str:
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no canonical form")
