"""Tokens: long random texts of which a file keeps the SHA-256 alone."""

from __future__ import annotations

import hashlib
import secrets

PREFIX = "rs_"  # so that scanners for secrets that were committed or logged can know one
LEAST = 32
"""Characters of a token; a shorter one could be guessed by whoever reads its hash."""
_RANDOM_BYTES = 32


def new_token() -> str:
    """A token that nobody has."""
    return PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def digest_of(token: str) -> str:
    """The SHA-256 of a token, as the callers file has it."""
    return hashlib.sha256(token.encode()).hexdigest()
