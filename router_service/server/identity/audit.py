"""The audit log: who changed something, or tried to, when, and what came of it. Always in the log, also in a file.

An action is written twice, before it is done and after, since one that cannot be written is not done.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from router_service.asks import AuditUnavailable, RoleMissing, Unanswerable, Unauthenticated
from router_service.domain.caller import Caller
from router_service.server.identity.repeats import Repeats
from router_service.v1 import error_reason_pb2 as reason_pb
from router_service.wire.errors import kind_of

FILE_MODE = 0o600
Handle = Callable[[Caller, bytes], Awaitable[bytes]]
What = Callable[[bytes], dict[str, str]]


class Audit:
    """Writes entries. `lost` is told of each that could not be written to the file."""

    def __init__(self, log: Any, file: Path | None, clock: Callable[[], int], lost: Callable[[], None]) -> None:
        self._log, self._file, self._clock, self._lost = log, file, clock, lost
        self._repeats = Repeats(self._write_or_tell)

    def open(self) -> None:
        """Raises OSError where the file cannot be written."""
        if self._file is not None:
            append(self._file, b"")

    async def close(self) -> None:
        """Writes what it still holds back."""
        await self._repeats.close()

    def audited(self, action: str, handle: Handle, what: What) -> Handle:
        """The same handler, written down before and after. `what` says of a request's bytes what is to be done."""

        async def act(caller: Caller, raw: bytes) -> bytes:
            entry = {"id": secrets.token_hex(8), "caller": caller.caller, "action": action, **what(raw)}
            try:
                await self._write(entry | {"outcome": "begun"})
            except OSError as error:
                self._tell_lost(error)
                raise AuditUnavailable from None
            outcome = {"outcome": "failed", "error": "CANCELLED"}
            try:
                answer = await handle(caller, raw)
                outcome = {"outcome": "done"}
            except Unanswerable as error:
                outcome["error"] = _reason(error)
                raise
            except Exception:
                outcome["error"] = "INTERNAL"
                raise
            finally:
                # A caller that has gone away does not cut it off.
                await asyncio.shield(self._write_or_tell(entry | outcome))
            return answer

        return act

    def denied(self, action: str, what: What) -> Callable[[bytes, str, Unauthenticated | RoleMissing], Awaitable[None]]:
        """Writes down that somebody was not let in, from which address; of the same again and again, only how often."""

        async def write(raw: bytes, peer: str, error: Unauthenticated | RoleMissing) -> None:
            known = isinstance(error, RoleMissing)
            caller = error.caller.caller if isinstance(error, RoleMissing) else ""
            entry = {"caller": caller, "action": action, **(what(raw) if known else {}), "peer": peer}
            entry |= {"outcome": "denied", "error": _reason(error)}
            await self._repeats.tell((caller, action, entry["error"]), entry)

        return write

    async def _write_or_tell(self, entry: dict[str, Any]) -> None:
        try:
            await self._write(entry)
        except OSError as error:
            self._tell_lost(error)

    async def _write(self, entry: dict[str, Any]) -> None:
        at = datetime.fromtimestamp(self._clock() / 1000, UTC).isoformat(timespec="milliseconds")
        self._log.warning("audit", **entry)
        if self._file is not None:
            line = msgspec.json.encode({"at": at.replace("+00:00", "Z"), **entry}) + b"\n"
            await asyncio.to_thread(append, self._file, line)

    def _tell_lost(self, error: OSError) -> None:
        self._lost()
        self._log.error("the audit log cannot be written", file=str(self._file), reason=error.strerror or str(error))


def append(file: Path, line: bytes) -> None:
    """Adds a line that is on the disk when it returns. The file is opened anew, so that it may be moved away."""
    number = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        while line:
            line = line[os.write(number, line) :]
        os.fsync(number)
    finally:
        os.close(number)


def _reason(error: Unanswerable) -> str:
    return reason_pb.ErrorReason.Name(kind_of(error)[1]).removeprefix("ERROR_REASON_")
