"""Server-sent events: a stream of bytes cut into events, as HTML's standard has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

DONE = b"[DONE]"

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r|\r\n\n|\n\r\n")
_LINE = re.compile(rb"\r\n|\n|\r")


class TooLong(Exception):
    """An event is longer than the limit."""


class Event(NamedTuple):
    """One event: its bytes as they came, its end included, and its data; None of a comment."""

    raw: bytes
    data: bytes | None


class Events:
    """Cuts what it is fed; holds at most `limit` bytes of an event that is not whole."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = b""
        self._looked = 0

    def feed(self, piece: bytes) -> Iterator[Event]:
        """The events that are whole now. Raises TooLong."""
        rest, start = self._rest + piece, 0
        looked = self._looked
        while found := _END.search(rest, looked):
            # A carriage return at the very end may be half of a line's end.
            if found.end() == len(rest) and rest.endswith(b"\r"):
                break
            raw = rest[start : found.end()]
            start = looked = found.end()
            yield Event(raw, _data(raw))
        self._rest = rest[start:]
        self._looked = max(0, len(self._rest) - 3)
        if len(self._rest) > self._limit:
            raise TooLong

    def end(self) -> Iterator[Event]:
        """The last event, where the stream ended without the empty line behind it."""
        if self._rest.strip():
            yield Event(self._rest, _data(self._rest))


def _data(raw: bytes) -> bytes | None:
    if raw.startswith(b"data: ") and raw.endswith(b"\n\n") and raw.find(b"\n") == len(raw) - 2 and b"\r" not in raw:
        return raw[6:-2]
    lines = [line[5:].removeprefix(b" ") for line in _LINE.split(raw) if line.startswith(b"data:")]
    return b"\n".join(lines) if lines else None


def event(data: bytes) -> bytes:
    """An event with these data, which are on one line."""
    return b"data: " + data + b"\n\n"
