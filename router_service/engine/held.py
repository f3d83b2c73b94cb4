"""Held: endpoints that rule 22 refuses now though their snapshot does not say so (docs/decision.md, The filter).

A snapshot holds what was known when it was made. What a circuit says since, and which half-open endpoint is another
decision's probe, goes into a decision beside it, as plain as the instant does.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

import msgspec

from router_service.domain.endpoint import Endpoint
from router_service.engine.bits import bitset
from router_service.engine.index import Index


class Held(msgspec.Struct, frozen=True):
    """The positions that are held as a set, and until when (ms) each is: pairs in the order of positions."""

    bits: int = 0
    until: tuple[tuple[int, int], ...] = ()

    def or_suppressed(self, position: int, endpoint: Endpoint) -> int | None:
        """Until when an endpoint is held or suppressed, the later of the two; None where it is neither."""
        held, own = self._until(position), endpoint.suppressed_until
        return max((end for end in (held, own) if end is not None), default=None)

    def by_id(self, index: Index) -> dict[str, int]:
        """Until when each is held, by the ids that the index has."""
        return {index.endpoints[position].endpoint_id: end for position, end in self.until}

    def _until(self, position: int) -> int | None:
        at = bisect_left(self.until, (position,))
        found = self.until[at : at + 1]
        return found[0][1] if found and found[0][0] == position else None


NOTHING = Held()


def held(index: Index, until: Mapping[str, int]) -> Held:
    """The endpoints of these ids, each until its instant (ms); ids that the index does not have are nobody's."""
    known = sorted((index.position[one], end) for one, end in until.items() if one in index.position)
    return Held(bitset((at for at, _ in known), index.size), tuple(known)) if known else NOTHING
