"""Contents as bytes: what a store keeps of a catalogue's version, so that old decisions can be explained again."""

from __future__ import annotations

import zlib
from fractions import Fraction
from typing import Any

import msgspec

from router_service.catalog.content import Content


def pack(content: Content) -> bytes:
    """The content in a form that lasts: MessagePack, compressed."""
    return zlib.compress(msgspec.msgpack.encode(content, enc_hook=as_basic), 6)


def unpack(form: bytes) -> Content:
    """The content of its form; the same version as before."""
    return msgspec.msgpack.decode(zlib.decompress(form), type=Content, dec_hook=from_basic)


def as_basic(value: Any) -> Any:
    """What MessagePack has no type for, in one that it has."""
    if isinstance(value, Fraction):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def from_basic(kind: type, value: Any) -> Any:
    """The same back again."""
    if kind is Fraction:
        return Fraction(value)
    raise NotImplementedError(kind.__name__)
