"""A real server, started as a person starts it, and a client of each kind that talks to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from clients.conformance.serving import serving
from router_service_client import AsyncRouterClient, RouterClient


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on a port of its own, which keeps traces."""
    store = tmp_path_factory.mktemp("store") / "router.db"
    with serving("--listen", "127.0.0.1:0", "--store", f"sqlite:{store}") as address:
        yield address


@pytest.fixture
def stateless_target(tmp_path: Path) -> Iterator[str]:
    """A server on a Unix socket that takes candidates and policies of the caller's own."""
    socket = f"unix:{tmp_path}/router.sock"
    with serving("--listen", socket, "--stateless"):
        yield socket


@pytest.fixture
def router(target: str) -> Iterator[RouterClient]:
    """A client of the server."""
    with RouterClient(target) as client:
        yield client


@pytest.fixture
async def async_router(target: str) -> AsyncIterator[AsyncRouterClient]:
    """An asyncio client of the server."""
    async with AsyncRouterClient(target) as client:
        yield client
