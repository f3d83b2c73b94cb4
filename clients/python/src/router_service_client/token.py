"""The bearer token that a client shows: one text, a file that may be renewed, or whatever gives one for each call."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import grpc

from router_service_client.errors import Unauthenticated

Token: TypeAlias = "str | Path | Callable[[], str]"  # noqa: S105 - a type
Metadata = tuple[tuple[str, str], ...]


def shown(token: Token | None) -> Callable[[], Metadata]:
    """What gives the metadata of each call; that of a file follows the file.

    It raises Unauthenticated where the file cannot be read or holds no token.
    """
    if token is None:
        return tuple
    if isinstance(token, Path):
        token = _File(token).read
    if isinstance(token, str):
        metadata = _metadata(token)
        return lambda: metadata
    give = token

    def metadata_now() -> Metadata:
        try:
            return _metadata(give())
        except (OSError, ValueError) as problem:
            raise Unauthenticated(f"there is no token to show: {problem}", grpc.StatusCode.UNAUTHENTICATED) from problem

    return metadata_now


def refuse_open(target: str, token: Token | None, credentials: grpc.ChannelCredentials | None) -> None:
    """Raises ValueError where a token would go over the network for everybody to read."""
    if token is not None and credentials is None and not _is_local(target):
        raise ValueError(
            f"{target}: the token would go over a plain connection for everybody to read; give "
            "credentials=grpc.ssl_channel_credentials(…), or a channel of your own where that is meant"
        )


class _File:
    """A file that holds a token and nothing else; read again when it was replaced or written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._token = ""

    def read(self) -> str:
        """The token that it holds now."""
        state = self._path.stat()
        seen = (state.st_ino, state.st_mtime_ns, state.st_size)
        if seen != self._seen:
            self._token, self._seen = self._path.read_text(encoding="ascii").strip(), seen
        return self._token


def _metadata(token: str) -> Metadata:
    if not token.isascii() or not token.isprintable() or len(token.split()) != 1:
        raise ValueError("that is no token: one word of ASCII is, and nothing else beside it")
    return (("authorization", f"Bearer {token}"),)


def _is_local(target: str) -> bool:
    """Whether a target is a Unix socket, or of this machine alone."""
    if target.startswith("unix:"):
        return True
    host = target.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
