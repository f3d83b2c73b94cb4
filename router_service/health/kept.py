"""Kept: an endpoint's health as a store keeps it, with how far the events of each instance are in it.

An instance may learn of its own writing by any way: the answer to it, a look at the store, or from what another wrote
over it after the answer was lost. By the number of its last event that is in it, it knows which are not.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from router_service.health.state import Health

_WRITERS = 16  # instances that are told apart, the latest; one that writes again after so many others is new


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """A health, and by instance the number of its last event that is in it, the latest writer last."""

    health: Health = Health()
    heard: Mapping[str, int] = {}

    def with_writer(self, instance: str, number: int, health: Health) -> Kept:
        """What the instance writes over this: a health with its events up to this number."""
        others = [one for one in self.heard.items() if one[0] != instance]
        return Kept(health, dict([*others[1 - _WRITERS :], (instance, number)]))


_DECODER = msgspec.json.Decoder(Kept)


def encode(kept: Kept) -> bytes:
    """JSON, for a store."""
    return msgspec.json.encode(kept)


def decode(body: bytes) -> Kept:
    """What `encode` wrote; fields that another version added are passed over.

    What cannot be read tells nothing, and is written over: one bad state must not keep the others from being shared.
    """
    try:
        return _DECODER.decode(body)
    except msgspec.DecodeError:
        return Kept()
