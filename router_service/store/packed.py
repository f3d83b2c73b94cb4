"""Reports and traces as bytes, the same in every store.

Costs are written as text: the packed form of an integer ends at 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from router_service.store.interface import Attempt

_Packed = tuple[str, str, str, bytes]
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[_Packed]).decode


def pack_attempts(attempts: Iterable[Attempt]) -> bytes:
    """Attempts as one body."""
    return _encode([(one.attempt_id, one.endpoint_id, str(one.cost), one.body) for one in attempts])


def unpack_attempts(body: bytes) -> tuple[Attempt, ...]:
    """The attempts of such a body."""
    return tuple(
        Attempt(attempt_id=attempt, endpoint_id=endpoint, cost=int(cost), body=reported)
        for attempt, endpoint, cost, reported in _decode(body)
    )
