"""Who calls: callers by the SHA-256 of their keys, in a file that is read again when it changes."""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from pathlib import Path

from router_openai_proxy.secret import stamp

log = logging.getLogger(__name__)

_LINE = re.compile(r"([0-9a-fA-F]{64})\s+\*?(\S.*)")


class BadKeys(Exception):
    """A file of keys that cannot be used: every line that is none, and why."""


def read_keys(path: Path) -> dict[str, str]:
    """Callers by the hash of their key; several keys may be one caller's. Raises BadKeys."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as wrong:
        why = wrong.strerror if isinstance(wrong, OSError) else "it is not UTF-8"
        told = f"{path} cannot be read: {why}"
        raise BadKeys(told) from None
    found: dict[str, str] = {}
    wrong_lines = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        matched = _LINE.fullmatch(line.strip())
        if not matched:
            wrong_lines.append(f"line {number} is not a SHA-256 in hex and a caller's name")
        elif found.setdefault(matched[1].lower(), matched[2]) != matched[2]:
            wrong_lines.append(f"line {number} gives a key to {matched[2]} that is {found[matched[1].lower()]}'s")
    if wrong_lines or not found:
        told = f"{path}: {'; '.join(wrong_lines) or 'there is no key in it'}"
        raise BadKeys(told)
    return found


class Keys:
    """The keys of a file. A change holds from the next request on; a wrong file leaves the last one in force."""

    def __init__(self, path: Path) -> None:
        """Raises BadKeys."""
        self._path = path
        self._stamp = self._now()
        self._callers = read_keys(path)

    def caller(self, key: str) -> str | None:
        """Whose key it is; None where it is nobody's. Takes as long for any key."""
        self._refresh()
        presented = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
        found = None
        for digest, name in self._callers.items():
            if hmac.compare_digest(digest, presented):
                found = name
        return found

    def _refresh(self) -> None:
        now = self._now()
        if now == self._stamp:
            return
        self._stamp = now
        try:
            self._callers = read_keys(self._path)
        except BadKeys as wrong:
            log.warning("%s; the last keys go on being used", wrong)

    def _now(self) -> tuple[int, int, int] | None:
        try:
            return stamp(self._path)
        except OSError:
            return None
