"""The audit log: who changed something, or tried to, when, and what came of it. Always in the log, also in a file.

An action is written twice, before it is done and after, since one that cannot be written is not done.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import stat
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from router_service.asks import AuditUnavailable, RoleMissing, Unanswerable, Unauthenticated
from router_service.domain.caller import Caller
from router_service.domain.readers import printable
from router_service.server.identity.repeats import Repeats
from router_service.v1 import error_reason_pb2 as reason_pb
from router_service.wire.errors import kind_of

FILE_MODE = 0o600
_LEGIBLE = 200
Handle = Callable[[Caller, bytes], Awaitable[bytes]]
What = Callable[[bytes], dict[str, str]]


class AuditInvalid(ValueError):
    """The audit log's file cannot be written; says why, and what to do."""

    def __init__(self, file: Path, error: OSError) -> None:
        super().__init__(
            f"--audit-log {file}: {error.strerror or error}; name a file on a disk, in a folder that is there and in"
            " which this user may write. The log on stderr has every entry without it"
        )


class Audit:
    """Writes entries. `lost` is told of each that could not be written to the file."""

    def __init__(self, log: Any, file: Path | None, clock: Callable[[], int], lost: Callable[[], None]) -> None:
        self._log, self._clock, self._lost = log, clock, lost
        self._file = None if file is None else _Lines(file)
        self._repeats = Repeats(self._write)

    def open(self) -> None:
        """Raises AuditInvalid where the file cannot be written."""
        if self._file is None:
            return
        try:
            self._file.append(b"")
        except OSError as error:
            raise AuditInvalid(self._file.path, error) from error

    async def close(self) -> None:
        """Writes what it still holds back."""
        await self._repeats.close()

    def audited(self, action: str, handle: Handle, what: What) -> Handle:
        """The same handler, written down before and after. `what` says of a request's bytes what is to be done."""

        async def act(caller: Caller, raw: bytes) -> bytes:
            entry = {"id": secrets.token_hex(8), "caller": caller.caller, "action": action, **what(raw)}
            outcome = {"outcome": "failed", "error": "CANCELLED"}
            in_file = True
            try:
                in_file = await self._written(entry | {"outcome": "begun"})
                if not in_file:
                    raise AuditUnavailable
                answer = await handle(caller, raw)
                outcome = {"outcome": "done"}
            except Unanswerable as error:
                outcome["error"] = _reason(error)
                raise
            except Exception:
                outcome["error"] = "INTERNAL"
                raise
            finally:
                if in_file:
                    # A caller that has gone away does not cut it off.
                    await asyncio.shield(self._write(entry | outcome))
                else:  # where what was begun is not, its end says nothing
                    self._tell(entry | outcome)
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

    async def _write(self, entry: dict[str, Any]) -> None:
        await self._written(entry)

    async def _written(self, entry: dict[str, Any]) -> bool:
        """Writes an entry; whether it is wherever it should be."""
        at = datetime.fromtimestamp(self._clock() / 1000, UTC).isoformat(timespec="milliseconds")
        self._tell(entry)
        if self._file is None:
            return True
        line = msgspec.json.encode({"at": at.replace("+00:00", "Z"), **entry}) + b"\n"
        try:
            await asyncio.to_thread(self._file.append, line)
        except OSError as error:
            self._lost()
            reason = error.strerror or str(error)
            self._log.error("the audit log cannot be written", file=str(self._file.path), reason=reason)
            return False
        return True

    def _tell(self, entry: dict[str, Any]) -> None:
        self._log.warning("audit", **entry)


def legible(text: str) -> str:
    """What somebody sent that makes no sense, as far as it is of use to whoever reads the log."""
    return printable(text if len(text) <= _LEGIBLE else f"{text[: _LEGIBLE - 1]}…")


class _Lines:
    """A file of lines. It is opened anew for each, so that it may be moved away."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._torn = False

    def append(self, line: bytes) -> None:
        """Adds a line that is on the disk when it returns."""
        # Not to wait for a reader, where the name is a pipe's.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        irregular = OSError(errno.EINVAL, "not a regular file, so that nothing would stay in it", str(self.path))
        try:
            number = os.open(self.path, flags, FILE_MODE)
        except OSError as error:
            raise irregular if error.errno == errno.ENXIO else error from None
        try:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise irregular
            if self._torn:  # a full disk took a part of one, which must not spoil the next
                line = b"\n" + line
            while line:
                line = line[os.write(number, line) :]
                self._torn = bool(line)
            os.fsync(number)
        finally:
            os.close(number)


def _reason(error: Unanswerable) -> str:
    return reason_pb.ErrorReason.Name(kind_of(error)[1]).removeprefix("ERROR_REASON_")
