"""How a client reaches the service."""

from __future__ import annotations

import math
import re
from typing import Any

import grpc

DEFAULT_TARGET = "127.0.0.1:50051"
DEFAULT_TIMEOUT = 5.0

# An explanation of 5,000 endpoints has several MiB, and gRPC's own limit is 4. A router stands beside its callers: a
# proxy of the environment, meant for the way out, is not asked. Nothing beneath the failover loop tries again, and no
# name server has a say in that or in which address is taken.
OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_receive_message_length", 64 * 1024 * 1024),
    ("grpc.enable_http_proxy", 0),
    ("grpc.enable_retries", 0),
    ("grpc.service_config_disable_resolution", 1),
]
_URL = re.compile("https?://.*", re.IGNORECASE)


def _checked(target: str) -> str:
    """An address of a service; ValueError for what is none."""
    if not target or _URL.fullmatch(target):
        text = f"target: {target!r} is no address; say host:port or unix:/path, such as {DEFAULT_TARGET}"
        raise ValueError(text)
    return target


def checked_timeout(seconds: float) -> float:
    """A time that a call may take; ValueError for what is none."""
    if not (math.isfinite(seconds) and seconds > 0):
        text = f"timeout: {seconds} is no time; give seconds, more than 0"
        raise ValueError(text)
    return seconds


def open_channel(target: str, credentials: grpc.ChannelCredentials | None) -> grpc.Channel:
    """A channel to `host:port` or `unix:/path`: plain, or TLS where there are credentials."""
    if credentials is None:
        return grpc.insecure_channel(_checked(target), OPTIONS)
    return grpc.secure_channel(_checked(target), credentials, OPTIONS)


def open_aio_channel(target: str, credentials: grpc.ChannelCredentials | None) -> grpc.aio.Channel:
    """The same for asyncio."""
    if credentials is None:
        return grpc.aio.insecure_channel(_checked(target), OPTIONS)
    return grpc.aio.secure_channel(_checked(target), credentials, OPTIONS)
