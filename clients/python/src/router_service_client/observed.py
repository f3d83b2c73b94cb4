"""What was seen, told from the responses and exceptions of HTTP and gRPC libraries without importing any of them."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import urllib.error
from collections.abc import Iterator, Mapping
from typing import Any

import grpc

from router_service_client.seen import (
    ACCEPTANCE_FAILED,
    CANCELLED,
    CONNECT,
    GRPC,
    HTTP,
    LOST,
    CallFailed,
    Seen,
)

# By the name of a class and the first part of its module. What is not surely from before the request was sent is lost:
# to send it again could do a thing twice.
_BY_NAME: dict[str, str] = {
    **dict.fromkeys(("httpx.ConnectError", "httpx.ConnectTimeout", "httpx.PoolTimeout"), CONNECT),
    **dict.fromkeys(("httpx.UnsupportedProtocol", "httpx.ProxyError", "httpcore.ConnectError"), CONNECT),
    **dict.fromkeys(("httpx.TransportError", "httpx.TimeoutException", "httpcore.NetworkError"), LOST),
    **dict.fromkeys(("requests.ConnectTimeout", "requests.SSLError", "requests.ProxyError"), CONNECT),
    **dict.fromkeys(("requests.ReadTimeout", "requests.ChunkedEncodingError"), LOST),
    **dict.fromkeys(("urllib3.NewConnectionError", "urllib3.NameResolutionError"), CONNECT),
    **dict.fromkeys(("urllib3.ConnectTimeoutError", "urllib3.SSLError"), CONNECT),
    **dict.fromkeys(("urllib3.ProtocolError", "urllib3.ReadTimeoutError", "requests.ConnectionError"), LOST),
    **dict.fromkeys(("aiohttp.ClientConnectorError", "aiohttp.ConnectionTimeoutError"), CONNECT),
    **dict.fromkeys(("aiohttp.ClientConnectionError", "aiohttp.ClientPayloadError"), LOST),
    **dict.fromkeys(("botocore.EndpointConnectionError", "botocore.ConnectTimeoutError"), CONNECT),
    **dict.fromkeys(("botocore.ReadTimeoutError", "botocore.ConnectionClosedError"), LOST),
    "http.HTTPException": LOST,
}
_SUCCESSORS = {"httpx2": "httpx", "httpcore2": "httpcore"}
"""Libraries that raise what an earlier one does under the same names."""
# For what has no name above, in this order.
_BY_TYPE: tuple[tuple[type[BaseException], str], ...] = (
    (ConnectionRefusedError, CONNECT),
    (socket.gaierror, CONNECT),
    (ssl.SSLCertVerificationError, CONNECT),
    (asyncio.CancelledError, CANCELLED),
    (json.JSONDecodeError, ACCEPTANCE_FAILED),
    (UnicodeDecodeError, ACCEPTANCE_FAILED),
    (OSError, LOST),  # resets, broken pipes, TimeoutError
    (EOFError, LOST),
)


def seen_of_response(response: Any) -> Seen:
    """An answer that is an error, of httpx, requests, aiohttp, urllib, http.client, or alike.

    The body is read where it can be had without waiting: give `CallFailed.http(status, headers, body)` where it cannot,
    as with aiohttp, or with httpx before a stream's `aread()`.
    """
    status = next(
        one for name in ("status_code", "status", "code") if isinstance(one := getattr(response, name, None), int)
    )
    headers = getattr(response, "headers", None) or {}
    return Seen(HTTP, status=status, headers={str(k): str(v) for k, v in headers.items()}, body=_body(response))


def _body(response: Any) -> object:
    try:
        body = response.content if hasattr(response, "content") else response.read()
    except Exception:  # noqa: BLE001 - a body that cannot be read tells nothing, whatever the reason
        return None
    return body if isinstance(body, bytes | str) else None


def seen_of_exception(error: BaseException) -> Seen | None:
    """What was seen, of an exception of a call or of what caused it; None where it is no failure of a call.

    Knows CallFailed, and what httpx, requests, urllib3, aiohttp, botocore, grpc, the OpenAI and Anthropic SDKs and the
    standard library raise.
    """
    chain = tuple(_chain(error))
    for one in chain:
        if isinstance(one, CallFailed):
            return one.seen
        if (seen := _answered(one)) is not None:
            return seen
    kinds = [kind for one in chain if (kind := _kind(one))]
    # requests says ConnectionError to a refusal and to a reset; what caused it knows better.
    kind = next((one for one in kinds if one == CONNECT), next(iter(kinds), None))
    return None if kind is None else Seen(kind, why="the answer does not parse" if kind == ACCEPTANCE_FAILED else "")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and what caused it, outermost first."""
    met: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if not isinstance(one, BaseException) or one in met:
            continue
        met.append(one)
        yield one
        inner = [getattr(one, "reason", None), *one.args]
        # Not __context__: a fault of the caller's own, met while a refusal was handled, is no refusal.
        waiting += [one.__cause__, *inner]


def _answered(error: BaseException) -> Seen | None:
    """An exception that carries an answer."""
    if isinstance(error, grpc.RpcError) and callable(getattr(error, "code", None)):
        code: Any = error.code()
        # What the caller's side cancelled says so; else it was the backend, or something on the way.
        if code is grpc.StatusCode.CANCELLED and getattr(error, "cancelled", bool)():
            return Seen(CANCELLED)
        return Seen(GRPC, code=code.name, body={"message": getattr(error, "details", lambda: "")() or ""})
    if isinstance(error, urllib.error.HTTPError):
        return seen_of_response(error)
    response = getattr(error, "response", None)
    if isinstance(getattr(response, "status_code", None), int):
        return seen_of_response(response)
    if isinstance(response, Mapping) and "ResponseMetadata" in response:  # botocore
        told, meta = response.get("Error", {}), response["ResponseMetadata"]
        body = {"__type": told.get("Code"), "message": told.get("Message")}
        return Seen(HTTP, status=meta.get("HTTPStatusCode"), headers=meta.get("HTTPHeaders", {}), body=body)
    return None


def _library(kind: type) -> str:
    name = kind.__module__.partition(".")[0]
    return _SUCCESSORS.get(name, name)


def _kind(error: BaseException) -> str | None:
    for one in type(error).__mro__:
        if kind := _BY_NAME.get(f"{_library(one)}.{one.__name__}"):
            return kind
    return next((kind for one, kind in _BY_TYPE if isinstance(error, one)), None)
