"""Envoy's messages on their way in: the parts that the doors look at, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message
from google.protobuf.struct_pb2 import Struct

from router_service.asks import InvalidRequest
from router_service.domain.problems import Problem
from router_service.envoy.v1 import http_pb2
from router_service.envoy.v1.authorization_pb2 import CheckRequest
from router_service.wire.envoy.ask import Said
from router_service.wire.envoy.keys import BODY_NAMESPACE

_Message = TypeVar("_Message", bound=Message)


def parsed(kind: type[_Message], raw: bytes) -> _Message:
    """One of Envoy's messages, most of whose fields the doors do not know. Raises InvalidRequest where it is none."""
    try:
        return kind.FromString(raw)
    except DecodeError:
        cure = "send the message of Envoy's API v3"
        raise InvalidRequest([Problem("", f"these bytes are no {kind.DESCRIPTOR.name}", cure)]) from None


def said_in_check(request: CheckRequest) -> Said:
    """What the request behind a check says. Raises InvalidRequest for a body that makes no sense."""
    attributes = request.attributes
    http = attributes.request.http
    headers = joined(http.header_map) if http.HasField("header_map") else pairs(http.headers)
    return Said.of(headers, plain_metadata(attributes.metadata_context, BODY_NAMESPACE))


def pairs(texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """The entries of a map of protobuf, whose own `items` takes thrice as long."""
    return [(name, texts[name]) for name in texts]


def headers_of(header_map: http_pb2.HeaderMap) -> Iterator[tuple[str, str]]:
    """Names and values, in the order of their coming; what is no UTF-8 is written as escapes."""
    for one in header_map.headers:
        yield one.key, one.value or one.raw_value.decode(errors="backslashreplace")


def joined(header_map: http_pb2.HeaderMap) -> Iterable[tuple[str, str]]:
    """The same, repeated ones joined by commas."""
    values: dict[str, str] = {}
    for name, value in headers_of(header_map):
        values[name] = f"{values[name]},{value}" if name in values else value
    return values.items()


def plain_metadata(metadata: http_pb2.Metadata, namespace: str) -> dict[str, Any]:
    """What stands in one namespace; nothing where there is none."""
    found = metadata.filter_metadata
    return plain_struct(found[namespace]) if namespace in found else {}


def plain_struct(struct: Struct) -> dict[str, Any]:
    """The texts, numbers and flags of a struct, and its lists of texts; what holds more is not looked into."""
    return {name: _plain(value) for name, value in struct.fields.items()}


def _plain(value: Any) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "list_value":
        return [_plain(one) for one in value.list_value.values]
    if kind in ("string_value", "number_value", "bool_value"):
        return getattr(value, kind)
    return None if kind != "struct_value" else {}
