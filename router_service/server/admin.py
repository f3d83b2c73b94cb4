"""The admin HTTP port: /metrics for Prometheus and /healthz for whoever speaks no gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from router_service.server.limits import PORT_CONNECTIONS

CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8"
"""That of Prometheus' text form."""
_LINE_MAX = 8192
_HEADERS_MAX = 100
_PATIENCE_S = 5


class AdminPort:
    """A small HTTP/1.1 responder for two paths; every connection serves one request and closes."""

    def __init__(self, metrics: Callable[[], Awaitable[bytes]], is_serving: Callable[[], bool]) -> None:
        """`metrics` gives the text of a scrape."""
        self._metrics, self._is_serving = metrics, is_serving
        self._unasked: dict[asyncio.StreamWriter, None] = {}
        self._open = 0

    async def start(self, host: str, port: int) -> tuple[asyncio.Server, int]:
        """Listens, and returns the server with the port that it got."""
        server = await asyncio.start_server(self._answer, host, port, limit=_LINE_MAX)
        return server, server.sockets[0].getsockname()[1]

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection. Beyond so many the oldest that has asked nothing yet gives way, or else the new one."""
        if self._open >= PORT_CONNECTIONS:
            oldest = next(iter(self._unasked), None)
            if oldest is None:
                writer.transport.abort()
                return
            del self._unasked[oldest]
            oldest.transport.abort()
        self._open += 1
        self._unasked[writer] = None
        try:
            async with asyncio.timeout(_PATIENCE_S):
                method, path = await _request_line(reader)
                self._unasked.pop(writer, None)
                status, kind, body = await self._page(method, path)
                head = (
                    f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: {kind}\r\n"
                    f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
                )
                if not writer.is_closing():  # it may have given way meanwhile
                    writer.write(head.encode() + (b"" if method == "HEAD" else body))
                    await writer.drain()
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError):
            pass  # whoever asked is gone, slow, or speaks no HTTP
        finally:
            self._open -= 1
            self._unasked.pop(writer, None)
            writer.close()

    async def _page(self, method: str, path: str) -> tuple[HTTPStatus, str, bytes]:
        if method not in ("GET", "HEAD"):
            return HTTPStatus.METHOD_NOT_ALLOWED, "text/plain", b"use GET\n"
        match path.partition("?")[0]:
            case "/metrics":
                return HTTPStatus.OK, CONTENT_TYPE, await self._metrics()
            case "/healthz" if self._is_serving():
                return HTTPStatus.OK, "text/plain", b"SERVING\n"
            case "/healthz":
                return HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", b"NOT_SERVING\n"
        return HTTPStatus.NOT_FOUND, "text/plain", b"there are /metrics and /healthz\n"


async def _request_line(reader: asyncio.StreamReader) -> tuple[str, str]:
    """Method and path; the headers are read and passed over."""
    method, path, _ = (await reader.readline()).decode("ascii").split()
    for _ in range(_HEADERS_MAX):
        if not (await reader.readline()).strip():
            return method, path
    raise ValueError("too many headers")
