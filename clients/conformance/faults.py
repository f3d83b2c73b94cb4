"""A backend on loopback that does wrong whatever its path names, over plain sockets, so that it can do all of it."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

GOOD = b'{"total": 12}'
HANG_SECONDS = 5.0


def _http(status: str, body: bytes, headers: bytes = b"", length: int | None = None) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body) if length is None else length}\r\nConnection: close\r\n"
    return head.encode() + headers + b"\r\n" + body


ANSWERS = {
    "good": _http("200 OK", GOOD),
    "limited": _http("429 Too Many Requests", b'{"error":{"code":"rate_limit_exceeded"}}', b"Retry-After: 30\r\n"),
    "ill": _http("503 Service Unavailable", b"<html>"),
    "truncated": _http("200 OK", GOOD[:6], length=len(GOOD)),
    "malformed": _http("200 OK", b'{"total": '),
    "v1/chat/completions": _http("200 OK", b'{"choices":[{"message":{"content":"Yes."}}],"usage":{"prompt_tokens":3}}'),
    "schema": _http("200 OK", b'{"sum": 12}'),
}


class Backend:
    """What it was asked, by path, and where it is."""

    def __init__(self, listening: socket.socket) -> None:
        self.port: int = listening.getsockname()[1]
        self.asked: list[str] = []
        self.stopping = threading.Event()
        self._listening = listening

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            fault = connection.recv(65536).split(b" ")[1].decode().strip("/")
            self.asked.append(fault)
            if fault == "hang":
                self.stopping.wait(HANG_SECONDS)
            elif fault == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                connection.sendall(ANSWERS[fault])


@contextmanager
def faulty_backend() -> Iterator[Backend]:
    """The backend, on a port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        backend = Backend(listening)
        thread = threading.Thread(target=backend.serve, daemon=True)
        thread.start()
        try:
            yield backend
        finally:
            backend.stopping.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port
