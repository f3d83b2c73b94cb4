"""HTTP/2 by hand, for what no client of gRPC does."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, WINDOW = 0, 1, 3, 4, 6, 8
END_STREAM, ACK, END_HEADERS = 1, 1, 4
_INITIAL_WINDOW = 4  # of the settings
_WINDOW, _FRAME = 65_535, 16_384


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """One frame."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def call(path: str, stream: int) -> bytes:
    """The headers that begin a call."""
    fields = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "x", "te": "trailers"}
    headers = b"".join(_literal(*one) for one in (fields | {"content-type": "application/grpc"}).items())
    return frame(HEADERS, END_HEADERS, stream, headers)


def _literal(name: str, value: str) -> bytes:
    """A header, as HPACK writes one that nobody need remember."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


class Unfinished:
    """A connection with calls whose messages are sent as far as the server takes them, and never to their end."""

    def __init__(self, path: str, calls: int, size: int) -> None:
        self._begin = struct.pack(">BI", 0, size)
        self._window = self._initial = _WINDOW
        streams = range(1, 2 * calls, 2)
        self._windows = dict.fromkeys(streams, _WINDOW)
        self._whole = size + len(self._begin) - 1
        self._left = dict.fromkeys(streams, self._whole)
        self.first = PREFACE + frame(SETTINGS, 0, 0) + b"".join(call(path, stream) for stream in streams)

    def answer(self, kind: int, flags: int, stream: int, payload: bytes) -> bytes:
        """What is to be sent at once after a frame of the server."""
        if kind == WINDOW:
            more = int.from_bytes(payload, "big")
            if not stream:
                self._window += more
            elif stream in self._windows:
                self._windows[stream] += more
        elif kind == SETTINGS and not flags & ACK:
            for name, value in struct.iter_unpack(">HI", payload):
                if name == _INITIAL_WINDOW:
                    self._windows = {one: window + value - self._initial for one, window in self._windows.items()}
                    self._initial = value
            return frame(SETTINGS, ACK, 0)
        elif kind == PING and not flags & ACK:
            return frame(PING, ACK, 0, payload)
        elif kind == RESET or (kind == HEADERS and flags & END_STREAM):
            self._windows.pop(stream, None)
        return b""

    def more(self) -> Iterator[bytes]:
        """What may be sent of the messages now."""
        for stream in list(self._windows):
            while (size := min(_FRAME, self._window, self._windows[stream], self._left[stream])) > 0:
                body = self._begin[self._whole - self._left[stream] :][:size]
                yield frame(DATA, 0, stream, body + bytes(size - len(body)))
                self._window -= size
                self._windows[stream] -= size
                self._left[stream] -= size


@asynccontextmanager
async def unfinished(target: str, path: str, calls: int, size: int) -> AsyncIterator[None]:
    """One such connection, in a task of its own."""
    host, _, port = target.rpartition(":")
    sending = asyncio.create_task(_send(host, int(port), Unfinished(path, calls, size)))
    try:
        yield
    finally:
        sending.cancel()
        with suppress(asyncio.CancelledError, OSError, asyncio.IncompleteReadError):
            await sending


async def _send(host: str, port: int, calls: Unfinished) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(calls.first)
        while True:
            head = await reader.readexactly(9)
            payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
            writer.write(calls.answer(head[3], head[4], int.from_bytes(head[5:], "big"), payload))
            for one in calls.more():
                writer.write(one)
            await writer.drain()
    finally:
        writer.close()
