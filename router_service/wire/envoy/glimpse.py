"""A glimpse of a check: the bytes that say what is asked, so that what was said before need not be read again.

Most requests of a route say the same but for their ids, times and ports. Reading maps and structs of protobuf from
Python took more than half of what the door did (docs/performance.md, Envoy's call-out).
"""

from __future__ import annotations

from typing import NamedTuple

from google.protobuf.message import DecodeError

from router_service.envoy.v1.authorization_pb2 import CheckGlimpse
from router_service.wire.envoy.keys import PREFIX, REQUEST_ID

# An entry of a map is its key as field 1 and its value as field 2, each with its length.
_KEY, _VALUE = 0x0A, 0x12
_ROUTER = PREFIX.encode()
_ROUTER_END = 2 + len(_ROUTER)
_ID = bytes((_KEY, len(REQUEST_ID))) + REQUEST_ID.encode() + bytes((_VALUE,))
_ID_VALUE = len(_ID) + 1
_ONE_BYTE = 0x80


class Glimpse(NamedTuple):
    """What a check says, as bytes: in its route's context, and in headers and the body's model; each has another id."""

    context: tuple[bytes, ...]
    said: tuple[bytes, ...]
    request_id: str


def glimpse(raw: bytes) -> Glimpse | None:
    """What the bytes of a check say; None where they must be read in full."""
    try:
        attributes = CheckGlimpse.FromString(raw).attributes
    except DecodeError:
        return None
    http = attributes.request.http
    if http.header_map:
        return None
    said, request_id = [], b""
    for entry in http.headers:
        if entry[2:_ROUTER_END] == _ROUTER:
            said.append(entry)
        elif entry.startswith(_ID):
            request_id = entry[_ID_VALUE:]
            if len(request_id) >= _ONE_BYTE or len(request_id) != entry[_ID_VALUE - 1] or not request_id.isascii():
                return None
    said.sort()
    said.append(attributes.metadata_context)
    return Glimpse(tuple(attributes.context_extensions), tuple(said), request_id.decode())
