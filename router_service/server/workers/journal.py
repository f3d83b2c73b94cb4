"""The supervisor's log: lines of the same form as the workers' (server/log.py), without what makes theirs quick."""

from __future__ import annotations

import datetime as dt
import sys

import msgspec

_LEVELS = ("debug", "info", "warning", "error")


class Journal:
    """Writes lines of at least `level`, in one of the forms of the log."""

    def __init__(self, level: str, form: str) -> None:
        self._least = _LEVELS.index(level)
        self._for_people = form == "console" or (form == "auto" and sys.stderr.isatty())

    def info(self, event: str, **fields: object) -> None:
        """Something that was to be."""
        self._write("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """Something that somebody may want to look at."""
        self._write("warning", event, fields)

    def error(self, event: str, **fields: object) -> None:
        """Something that somebody has to look at."""
        self._write("error", event, fields)

    def _write(self, level: str, event: str, fields: dict[str, object]) -> None:
        if _LEVELS.index(level) < self._least:
            return
        now = dt.datetime.now(dt.UTC).isoformat().replace("+00:00", "Z")
        if self._for_people:
            told = " ".join(f"{name}={value}" for name, value in fields.items())
            line = f"{now} [{level:<9}] {event:<30} {told}".rstrip()
        else:
            line = msgspec.json.encode({"event": event, **fields, "level": level, "timestamp": now}).decode()
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
