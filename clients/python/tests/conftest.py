"""A real server, started as a person starts it, and a client of each kind that talks to it."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from router_service_client import AsyncRouterClient, RouterClient

SECONDS_TO_START = 30


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """A server with the example catalogue and these arguments; what stands after `listening on` in what it says."""
    if "--store" not in arguments:
        arguments = ("--store", "none", *arguments)
    command = [sys.executable, "-m", "router_service.cli", "serve", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ROUTER_SERVICE_")}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    said = b""
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until and select.select([process.stderr], [], [], until - time.monotonic())[0]:
        piece = os.read(process.stderr.fileno(), 65536)
        said += piece
        if found := re.search(rb"listening on (\S+)\n", said):
            return found[1].decode()
        if not piece:
            break
    pytest.fail(f"the server did not start; it said: {said.decode(errors='replace')}")


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
