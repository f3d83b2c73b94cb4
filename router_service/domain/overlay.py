"""Overlay: where endpoints differ now from what their catalogue says (docs/reliability.md, Observed figures)."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from functools import cached_property

import msgspec

from router_service.domain.endpoint import Endpoint
from router_service.domain.meanings import shown_instant

OBSERVED = "observed"
CIRCUIT = "circuit"
BY_HAND = "by_hand"


class Difference(msgspec.Struct, frozen=True, omit_defaults=True):
    """One endpoint's figures that stand in the place of its catalogue's; None leaves the catalogue's. Times in ms."""

    endpoint_id: str
    latency_ms: int | None = None
    error_rate: float | None = None
    status: str | None = None
    suppressed_until: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return self == Difference(self.endpoint_id)

    def over(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint as decisions see it. Of two suppressions the later end holds."""
        ends = [end for end in (endpoint.suppressed_until, self.suppressed_until) if end is not None]
        return msgspec.structs.replace(
            endpoint,
            latency_ms=endpoint.latency_ms if self.latency_ms is None else self.latency_ms,
            error_rate=endpoint.error_rate if self.error_rate is None else self.error_rate,
            status=endpoint.status if self.status is None else self.status,
            suppressed_until=max(ends, default=None),
        )


class Figure(msgspec.Struct, frozen=True):
    """One fact that was not the catalogue's: what was used, what the catalogue records (or nothing), and whence."""

    name: str
    used: str
    recorded: str
    source: str


def figures(recorded: Endpoint, difference: Difference | None, held_until: int | None, now: int) -> tuple[Figure, ...]:
    """What of an endpoint a decision at `now` did not take from its catalogue.

    `held_until` (ms) is beside the difference. What kept the endpoint out until then does so no more, and is not told.
    """
    one = difference or Difference(recorded.endpoint_id)
    until = max((end for end in (one.suppressed_until, held_until) if end is not None and end > now), default=None)
    found = []
    if one.status is not None:
        found.append(Figure("status", one.status, recorded.status, BY_HAND))
    if one.latency_ms is not None:
        found.append(Figure("latency_ms", _told(one.latency_ms), _told(recorded.latency_ms), OBSERVED))
    if one.error_rate is not None:
        found.append(Figure("error_rate", _told(one.error_rate), _told(recorded.error_rate), OBSERVED))
    if until is not None:
        end = recorded.suppressed_until
        found.append(
            Figure("suppressed_until", shown_instant(until), "" if end is None else shown_instant(end), CIRCUIT)
        )
    return tuple(found)


def _told(value: float | None) -> str:
    return "" if value is None else f"{value:.15g}"


class Overlay:
    """All differences at one moment, by endpoint_id. Immutable; the same ones have the same version."""

    def __init__(self, differences: Iterable[Difference] = ()) -> None:
        self.differences = {one.endpoint_id: one for one in differences if not one.is_empty}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Overlay) and self.differences == other.differences

    def __hash__(self) -> int:
        return hash(self.version)

    @cached_property
    def version(self) -> str:
        """A hash of the content; empty where nothing differs."""
        return "figures-" + hashlib.sha256(self._plain).hexdigest()[:32] if self.differences else ""

    @cached_property
    def packed(self) -> bytes:
        """A form that lasts."""
        return zlib.compress(self._plain, 1)

    @cached_property
    def _plain(self) -> bytes:
        ordered = sorted(self.differences.values(), key=lambda one: one.endpoint_id.encode())
        return msgspec.json.encode(ordered)

    @classmethod
    def unpacked(cls, packed: bytes) -> Overlay:
        """What `packed` gave. Raises zlib.error or msgspec.DecodeError where it is none."""
        return cls(msgspec.json.decode(zlib.decompress(packed), type=list[Difference]))


NOTHING_DIFFERS = Overlay()
