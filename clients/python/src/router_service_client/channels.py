"""How a client reaches the service."""

from __future__ import annotations

from typing import Any

import grpc

DEFAULT_TARGET = "127.0.0.1:50051"
DEFAULT_TIMEOUT = 5.0

# An explanation of 5,000 endpoints has several MiB, and gRPC's own limit is 4. A router stands beside its callers: a
# proxy of the environment, meant for the way out, is not asked.
OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_receive_message_length", 64 * 1024 * 1024),
    ("grpc.enable_http_proxy", 0),
]


def open_channel(target: str, credentials: grpc.ChannelCredentials | None) -> grpc.Channel:
    """A channel to `host:port` or `unix:/path`: plain, or TLS where there are credentials."""
    if credentials is None:
        return grpc.insecure_channel(target, OPTIONS)
    return grpc.secure_channel(target, credentials, OPTIONS)


def open_aio_channel(target: str, credentials: grpc.ChannelCredentials | None) -> grpc.aio.Channel:
    """The same for asyncio."""
    if credentials is None:
        return grpc.aio.insecure_channel(target, OPTIONS)
    return grpc.aio.secure_channel(target, credentials, OPTIONS)
