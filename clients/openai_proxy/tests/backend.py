"""A provider on loopback, over plain sockets: answers as the first part of the path says, and keeps what it got."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}


@dataclass(frozen=True)
class Got:
    """One request as it came."""

    behaviour: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass
class Connection:
    """A client's connection, and what was asked on it."""

    socket: socket.socket
    got: Got
    backend: Backend

    def answer(self, status: str, body: object, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer in JSON, or as it is where it is bytes."""
        written = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(written)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + written)

    def begin(self) -> None:
        """The head of a stream."""
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.socket.sendall(head.encode())

    def part(self, data: bytes) -> None:
        """A piece of a stream, in a chunk of its own."""
        self.socket.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def say(self, delta: Mapping[str, Any], finish_reason: str | None = None, **more: Any) -> None:
        """An event that is a chunk; of one that was asked for its usage every chunk has that member."""
        usage = {"usage": None} if self.asks_usage else {}
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        self.part(event({**CHUNK, "choices": [choice], **usage, **more}))

    def end(self) -> None:
        """The end of a stream."""
        self.part(b"data: [DONE]\n\n")
        self.socket.sendall(b"0\r\n\r\n")

    @property
    def asks_usage(self) -> bool:
        return bool((self.got.body.get("stream_options") or {}).get("include_usage"))

    def reset(self) -> None:
        """Ends the connection as a process that dies does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


CHUNK = {"id": "c-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "backend-model"}


def event(data: object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def completion(message: Mapping[str, Any], finish_reason: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish_reason}
    return {**CHUNK, "object": "chat.completion", "choices": [choice], "usage": USAGE}


def called(name: str, arguments: str) -> dict[str, Any]:
    call = {"id": "call-1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return completion({"tool_calls": [call]}, "tool_calls")


@dataclass
class Backend:
    """Where it is, what it was asked, and what became of those who listened."""

    port: int
    behaviours: Mapping[str, Callable[[Connection], None]]
    got: list[Got] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    sent: int = 0

    def asked(self, behaviour: str) -> list[Got]:
        """What one behaviour was asked."""
        return [one for one in self.got if one.behaviour == behaviour]

    def clear(self) -> None:
        """Forgets all of it."""
        self.got.clear()
        self.left.clear()
        self.go_on.clear()
        self.sent = 0

    def serve(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        """One request after the other, as long as the connection lasts."""
        with connection, contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while (got := _read(connection)) is not None:
                self.got.append(got)
                self.behaviours[got.behaviour](Connection(connection, got, self))


def _read(connection: socket.socket) -> Got | None:
    """A request; None where the other side closed the connection."""
    read = b""
    while b"\r\n\r\n" not in read:
        if not (piece := connection.recv(65536)):
            return None
        read += piece
    head, _, body = read.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    pieces = [body]
    length = len(body)
    while length < int(headers.get("content-length", 0)):
        pieces.append(connection.recv(65536))
        length += len(pieces[-1])
    path = first.split(" ")[1]
    return Got(path.split("/")[1], path, headers, json.loads(b"".join(pieces) or b"{}"))


@contextmanager
def providing(behaviours: Mapping[str, Callable[[Connection], None]]) -> Iterator[Backend]:
    """The provider, on a port of its own; `behaviours` are what it does, by the first part of the path."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        backend = Backend(listening.getsockname()[1], behaviours)
        thread = threading.Thread(target=backend.serve, args=(listening,), daemon=True)
        thread.start()
        try:
            yield backend
        finally:
            backend.stopping.set()
            backend.go_on.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
