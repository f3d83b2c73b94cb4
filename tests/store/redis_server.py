"""A real redis-server of the tests' own: a free port of the loopback, a folder for its file, stopped by its pid."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

START_S = 20
MISSING = "redis-server is not installed (apt-get install redis-server)"


def binary() -> str:
    """Where redis-server is. In CI a missing one is a failure, elsewhere these tests are skipped."""
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return found


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class RedisServer:
    """`start` and `stop` may follow each other; what was written stays, as each write is synced to the file."""

    def __init__(self, folder: Path, *, cluster: bool = False, socket: bool = False) -> None:
        self._binary, self._folder, self._cluster, self._socket = binary(), folder, cluster, socket
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = {
            "port": self.port,
            "bind": "127.0.0.1",
            "dir": self._folder,
            "save": "",
            "daemonize": "no",
            **({"unixsocket": self._folder / "socket"} if self._socket else {}),
            "appendonly": "yes",
            "appendfsync": "always",
            **({"cluster-enabled": "yes", "cluster-port": free_port()} if self._cluster else {}),
        }
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binary, *(part for name, value in options.items() for part in (f"--{name}", str(value)))],
                stdout=log,
                stderr=log,
            )
        if self._cluster:
            self._wait_for(b"PING", b"+PONG")
            self.ask(b"CLUSTER ADDSLOTSRANGE 0 16383")
            self._wait_for(b"CLUSTER INFO", b"cluster_state:ok")
        else:
            self._wait_for(b"PING", b"+PONG")

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGKILL) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.send_signal(number)
            self._process.wait()
            self._process = None

    def ask(self, command: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as one:
            one.sendall(command + b"\r\n")
            return one.recv(1 << 20)

    def _wait_for(self, command: bytes, answer: bytes) -> None:
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            try:
                if answer in self.ask(command):
                    return
            except OSError:
                pass
            time.sleep(0.02)
        pytest.fail(f"redis-server did not start:\n{(self._folder / 'log').read_text()}")
