"""The link between the supervisor and a worker: short messages over a socket that keeps their bounds.

What is large goes beside its message as a file in memory, of which both hold a descriptor: a catalogue as its loader
wrote it, a page of metrics.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator

import msgspec

_MESSAGE_BYTES = 64 * 1024


class Ready(msgspec.Struct, tag="ready"):
    """From a worker: it serves, and clients reach it there."""

    addresses: list[str]


class Load(msgspec.Struct, tag="load"):
    """From a worker: load the catalogue now. `asked` is its own number of who waits for it, 0 where nobody does."""

    asked: int = 0


class Taken(msgspec.Struct, tag="taken"):
    """From a worker: what was loaded as `number` serves, or was found to be no valid catalogue."""

    number: int
    good: bool


class Page(msgspec.Struct, tag="page"):
    """From the supervisor: tell your metrics. From a worker: here they are, as a file beside."""


class Catalog(msgspec.Struct, tag="catalog"):
    """From the supervisor: what was loaded, as a file beside, or why nothing was. `asked` are whom it answers.

    `again_s` is in how many seconds it tries again where it failed.
    """

    number: int
    asked: list[int] = []
    failed: str = ""
    again_s: float = 0.0


class Workers(msgspec.Struct, tag="workers"):
    """From the supervisor: whether all workers serve."""

    complete: bool


class Wake(msgspec.Struct, tag="wake"):
    """From the supervisor: read callers and certificates now."""


class End(msgspec.Struct, tag="end"):
    """From the supervisor: end gently, or at once."""

    at_once: bool = False


Message = Ready | Load | Taken | Page | Catalog | Workers | Wake | End


class LinkFull(RuntimeError):
    """The other side has not read for so long that nothing more fits."""


class Link:
    """One end. For one event loop; `close` may be called more than once."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        end.setblocking(False)
        self._encoder, self._decoder = msgspec.json.Encoder(), msgspec.json.Decoder(Message)

    def send(self, message: Message, file: int | None = None) -> None:
        """Sends at once; `file` stays open here. Where the other side is gone, nobody hears it. Raises LinkFull."""
        try:
            socket.send_fds(self._socket, [self._encoder.encode(message)], [] if file is None else [file])
        except BlockingIOError as error:
            raise LinkFull from error
        except OSError:
            pass  # whoever receives is told of it

    async def received(self) -> AsyncIterator[tuple[Message, int]]:
        """What comes, until the other side is gone: each message, and its file, for the receiver to close, or -1."""
        loop, readable = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._socket, readable.set)
        try:
            while True:
                await readable.wait()
                readable.clear()
                while (one := self._receive()) is not None:
                    raw, file = one
                    if not raw:
                        return
                    yield self._decoder.decode(raw), file
        finally:
            loop.remove_reader(self._socket)

    def close(self) -> None:
        """Lets go of this end."""
        self._socket.close()

    def _receive(self) -> tuple[bytes, int] | None:
        try:
            raw, files, _, _ = socket.recv_fds(self._socket, _MESSAGE_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return None
        except OSError:
            return b"", -1
        return raw, files[0] if files else -1


def pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a new link."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def file_of(content: bytes) -> int:
    """A file in memory with this content."""
    file = empty_file()
    with os.fdopen(os.dup(file), "wb") as writing:
        writing.write(content)
    return file


def empty_file() -> int:
    """A file in memory, to be written."""
    return os.memfd_create("router-service", os.MFD_CLOEXEC)


def content_of(file: int) -> bytes:
    """All that a file has, whatever else has read of it."""
    size, parts, at = os.fstat(file).st_size, [], 0
    while at < size:
        part = os.pread(file, size - at, at)
        if not part:
            break
        parts.append(part)
        at += len(part)
    return b"".join(parts)
