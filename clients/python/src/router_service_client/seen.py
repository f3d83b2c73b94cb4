"""What was seen of a failed attempt, and the exception that carries it out of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

CONNECT = "connect"
LOST = "lost"
BROKEN_OFF = "broken_off"
HTTP = "http"
GRPC = "grpc"
CANCELLED = "caller_cancelled"
ACCEPTANCE_FAILED = "acceptance_failed"
CONTENT_REFUSED = "content_refused"
KINDS = (CONNECT, LOST, BROKEN_OFF, HTTP, GRPC, CANCELLED, ACCEPTANCE_FAILED, CONTENT_REFUSED)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of an attempt that brought no answer.

    Attributes:
        kind: `connect` (refused, unresolvable, TLS, or timed out before the request was sent), `lost` (after it was
            sent, nothing received), `broken_off` (after a part was passed on), `http` and `grpc` (an answer that is an
            error), `caller_cancelled`, `acceptance_failed`, or `content_refused` (an answer that only refuses).
        status: the HTTP status.
        headers: those of the answer, under names of any case.
        body: the JSON of the answer, or its text.
        code: the name of a gRPC status.
        sent: whether a gRPC call had reached the wire.
        why: for people: what acceptance said, or what could not be connected to. It is never reported as a code.
    """

    kind: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    code: str = ""
    sent: bool = True
    why: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            text = f"{self.kind!r} is no kind of Seen; use one of {', '.join(KINDS)}"
            raise ValueError(text)


class CallFailed(Exception):
    """Raised out of a call: this attempt brought no answer, and `seen` is what was seen of it."""

    def __init__(self, seen: Seen) -> None:
        super().__init__(seen.why or " ".join(str(one) for one in (seen.kind, seen.status, seen.code) if one))
        self.seen = seen

    @classmethod
    def not_connected(cls, why: str = "") -> Self:
        """Refused, unresolvable, TLS failure, or timed out before the request was sent."""
        return cls(Seen(CONNECT, why=why))

    @classmethod
    def lost(cls, why: str = "") -> Self:
        """Lost or timed out after the request was sent, nothing received."""
        return cls(Seen(LOST, why=why))

    @classmethod
    def broken_off(cls, why: str = "") -> Self:
        """Broken off after a part of the answer was passed on."""
        return cls(Seen(BROKEN_OFF, why=why))

    @classmethod
    def cancelled(cls) -> Self:
        """The caller wants no answer any more."""
        return cls(Seen(CANCELLED))

    @classmethod
    def not_accepted(cls, why: str) -> Self:
        """An answer that fails acceptance, and why; no words of the answer, since they are reported."""
        return cls(Seen(ACCEPTANCE_FAILED, status=200, why=why))

    @classmethod
    def content_refused(cls) -> Self:
        """An answer that only says that the endpoint will not speak of this."""
        return cls(Seen(CONTENT_REFUSED))

    @classmethod
    def http(cls, status: int, headers: Mapping[str, str] | None = None, body: object = None) -> Self:
        """An answer that is an error: its status, headers, and body as JSON or text."""
        return cls(Seen(HTTP, status=status, headers=headers or {}, body=body))
