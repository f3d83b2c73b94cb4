"""Credentials by reference: an environment variable or a file, read again when it changes, and never shown."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from pathlib import Path

from router_openai_proxy.config.values import Reference

log = logging.getLogger(__name__)

# What can stand in a header: a secret with a line break in it would be two headers.
_SECRET = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", re.ASCII)


class BadSecret(Exception):
    """A reference that leads to no secret; the text says which and why, and never what was read."""


def read_environment(name: str) -> str:
    """The secret in an environment variable. Raises BadSecret."""
    return _checked(os.environ.get(name, ""), f"the environment variable {name}")


def read_secret(path: Path) -> str:
    """The secret in a file, without the white space around it. Raises BadSecret."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        why = wrong.strerror if isinstance(wrong, OSError) else "it is not text"
        told = f"the file {path} cannot be read: {why}"
        raise BadSecret(told) from None  # a decoding error quotes what it met
    return _checked(text, f"the file {path}")


def _checked(text: str, what: str) -> str:
    secret = text.strip()
    if not secret:
        told = f"{what} is not there or empty; put the credential into it"
        raise BadSecret(told)
    if not _SECRET.fullmatch(secret):
        told = f"{what} must hold one line of ASCII"
        raise BadSecret(told)
    return secret


def stamp(path: Path) -> tuple[int, int, int]:
    """What is another after a file was changed or replaced. Links are followed, as secrets are mounted by them."""
    found = path.stat()
    return found.st_mtime_ns, found.st_ino, found.st_size


def reader_of(reference: Reference) -> Callable[[], str]:
    """What gives the secret as it is now. Raises BadSecret."""
    if reference.file is not None:
        return SecretFile(reference.file).value
    secret = read_environment(reference.env)
    return lambda: secret


class SecretFile:
    """The secret in a file. A change holds from the next use on; where it cannot be read, the last one goes on."""

    def __init__(self, path: Path) -> None:
        """Raises BadSecret."""
        self._path = path
        self._stamp = self._now()
        self._value = read_secret(path)

    def value(self) -> str:
        """The secret as it is now."""
        now = self._now()
        if now != self._stamp:
            self._stamp = now
            try:
                self._value = read_secret(self._path)
            except BadSecret as wrong:
                log.warning("%s; the last one goes on being used", wrong)
        return self._value

    def _now(self) -> tuple[int, int, int] | None:
        try:
            return stamp(self._path)
        except OSError:
            return None
