"""What is read of a chunk of a streamed completion; members put into JSON or taken out, the rest left as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

_NOTHING = {b"null", b'""', b"[]", b"{}"}


class Usage(msgspec.Struct):
    """Tokens, as the endpoint counted them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Choice(msgspec.Struct):
    delta: dict[str, msgspec.Raw] | None = None
    finish_reason: str | None = None


class Chunk(msgspec.Struct):
    """One chunk; `error` is in it where the endpoint gives up in the middle."""

    choices: list[_Choice] | None = None
    usage: Usage | None = None
    error: Any = None

    @property
    def finish_reason(self) -> str | None:
        """Why a choice ends with it."""
        return next((one.finish_reason for one in self.choices or () if one.finish_reason), None)

    @property
    def says_something(self) -> bool:
        """Whether it holds more than a role."""
        return any(
            name != "role" and bytes(value) not in _NOTHING
            for one in self.choices or ()
            for name, value in (one.delta or {}).items()
        )

    @property
    def is_usage(self) -> bool:
        """Whether it only tells the tokens."""
        return not self.choices and self.usage is not None


class NoChunk(Exception):
    """The data are no chunk of a completion."""


_CHUNK = msgspec.json.Decoder(Chunk)
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def read_chunk(data: bytes) -> Chunk:
    """A chunk. Raises NoChunk."""
    try:
        return _CHUNK.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
        raise NoChunk from wrong


def without_usage(data: bytes) -> bytes:
    """A JSON object without its member `usage`."""
    if b'"usage"' not in data:
        return data
    members = _MEMBERS.decode(data)
    return data if members.pop("usage", None) is None else msgspec.json.encode(members)


def with_member(data: bytes, name: str, value: Mapping[str, Any]) -> bytes:
    """A JSON object with one more member, or another value of it; all else stays as it is, to the last digit."""
    if json.dumps(name).encode() in data:  # it may have such a member
        members: dict[str, Any] = _MEMBERS.decode(data)
        return msgspec.json.encode({**members, name: value})
    head = data.rstrip().removesuffix(b"}").rstrip()
    comma = b"" if head.endswith(b"{") else b","
    return b"%s%s%s:%s}" % (head, comma, msgspec.json.encode(name), msgspec.json.encode(value))


def last_chunk(before: bytes) -> bytes:
    """A chunk without a choice that follows another: what tells something where the endpoint left no place for it."""
    members = _MEMBERS.decode(before)
    told = {name: members[name] for name in ("id", "created", "model") if name in members}
    return msgspec.json.encode({**told, "object": "chat.completion.chunk", "choices": []})
