"""A real server in a process of its own, for tests that speak to one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from router_service.v1 import catalog_service_pb2_grpc, router_service_pb2_grpc
from tests.store.redis_server import RedisServer

START_S = 30


class ServerProcess:
    """`router-service serve` with these arguments; `lines` collects what it says."""

    def __init__(self, *arguments: str) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ROUTER_SERVICE_")}
        if "--store" not in arguments:
            arguments = ("--store", "none", *arguments)
        if "--drain-delay" not in arguments:
            arguments = ("--drain-delay", "0", *arguments)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "router_service.cli", "serve", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._channels: list[grpc.Channel] = []

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    def wait_for(self, pattern: str, *, after: int = 0) -> re.Match[str]:
        """The first line from number `after` on that matches; fails if none comes or the server ends."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            for line in self.lines[after:]:
                if found := re.search(pattern, line):
                    return found
            if self.process.poll() is not None and not self._reader.is_alive():
                break
            time.sleep(0.01)
        raise AssertionError(f"no line matches {pattern!r}:\n" + "\n".join(self.lines))

    @property
    def target(self) -> str:
        """Where clients reach it."""
        return self.wait_for(r"^listening on (\S+)")[1]

    def channel(self, target: str = "") -> grpc.Channel:
        """A channel to it, closed when it is stopped."""
        channel = grpc.insecure_channel(target or self.target)
        self._channels.append(channel)
        return channel

    @property
    def router(self) -> router_service_pb2_grpc.RouterServiceStub:
        return router_service_pb2_grpc.RouterServiceStub(self.channel())

    @property
    def catalog(self) -> catalog_service_pb2_grpc.CatalogServiceStub:
        return catalog_service_pb2_grpc.CatalogServiceStub(self.channel())

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends it and returns its exit code."""
        for channel in self._channels:
            channel.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(START_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._reader.join(START_S)
        if self.process.stderr is not None:
            self.process.stderr.close()
        return code


@pytest.fixture
def serve() -> Iterator[Callable[..., ServerProcess]]:
    """Starts servers on ports of their own choice, and stops them at the end."""
    running: list[ServerProcess] = []

    def start(*arguments: str) -> ServerProcess:
        listen = () if "--listen" in arguments else ("--listen", "127.0.0.1:0")
        running.append(ServerProcess(*listen, *arguments))
        return running[-1]

    yield start
    # At once, by the second signal: the store that they would wait for may be gone by now.
    for server in running:
        if server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.02)
    for server in running:
        server.stop()


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    """One server with the bundled example catalogue and stateless mode, for the tests of a module."""
    running = ServerProcess("--listen", "127.0.0.1:0", "--stateless", "--admin", "127.0.0.1:0", "--log-level", "debug")
    yield running
    running.stop()


CATALOG = """\
currency: EUR
default_policy: eu
models:
- {model: small, context_window: 8192}
- {model: large, context_window: 131072}
endpoints:
- {endpoint_id: small@a, model: small, provider: a, region: fr-par, country: FR, sovereignty: eu-owned}
- {endpoint_id: large@b, model: large, provider: b, region: eu-central-1, country: DE, sovereignty: eu-hosted}
- {endpoint_id: large@us, model: large, provider: c, region: us-east-1, country: US, sovereignty: global}
policies:
- {policy_id: eu}
- {policy_id: world, residency: [eu-hosted, global]}
"""


@pytest.fixture
def catalog_file(tmp_path: Path) -> Path:
    """A small catalogue in a folder of its own."""
    path = tmp_path / "catalog.yaml"
    path.write_text(CATALOG)
    return path


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis of this test's own."""
    folder = tmp_path / "redis"
    folder.mkdir()
    server = RedisServer(folder)
    server.start()
    yield server
    server.stop()
