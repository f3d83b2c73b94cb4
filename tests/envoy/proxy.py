"""A real Envoy in a process of its own, and a client that speaks to it."""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_S = 60
ENVOY = Path(sys.executable).with_name("envoy")
_FLAGS = ("--disable-hot-restart", "--concurrency", "2", "-l", "warning")


@dataclass(frozen=True)
class Got:
    """What a client got."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> Any:
        return self.json["error"]

    @property
    def attempts(self) -> int:
        return int(self.headers.get("x-envoy-attempt-count", "0"))


class Envoy:
    """Envoy with a configuration whose listeners and admin page are on ports of the kernel's choice."""

    def __init__(self, config: str, folder: Path) -> None:
        self.file, self._admin_file, self._log = folder / "envoy.yaml", folder / "admin.txt", folder / "envoy.log"
        self.file.write_text(config)
        self._admin_file.unlink(missing_ok=True)
        with self._log.open("wb") as log, (folder / "access.log").open("wb") as lines:
            self._process = subprocess.Popen(
                [ENVOY, "-c", self.file, *_FLAGS, "--admin-address-path", self._admin_file],
                stdout=lines,
                stderr=log,
            )
        self.port = self._wait_for_port()

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def admin(self, path: str) -> bytes:
        host, _, port = self._admin_file.read_text().rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=10)
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        finally:
            connection.close()

    def stats(self, contains: str) -> dict[str, int]:
        lines = self.admin(f"/stats?filter={contains}").decode().splitlines()
        return {name: int(value) for name, value in (line.rsplit(": ", 1) for line in lines) if value.isdecimal()}

    def post(
        self,
        body: Any = None,
        path: str = "/v1/chat/completions",
        timeout: float = 20,
        method: str = "POST",
        ca: Path | None = None,
        **headers: str,
    ) -> Got:
        """One request on a connection of its own; underscores of header names stand for hyphens.

        `ca` is who issued Envoy's own certificate, where it speaks TLS.
        """
        raw = body if isinstance(body, bytes) else json.dumps({"model": "auto"} if body is None else body).encode()
        sent = {"content-type": "application/json"} | {name.replace("_", "-"): text for name, text in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        if ca is not None:
            context = ssl.create_default_context(cafile=ca)
            connection = http.client.HTTPSConnection("localhost", self.port, timeout=timeout, context=context)
        try:
            connection.request(method, path, raw if method == "POST" else None, sent)
            answer = connection.getresponse()
            return Got(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def until(self, holds: Callable[[Got], object], **headers: Any) -> Got:
        """What a client got as soon as that holds of it."""
        deadline = time.monotonic() + START_S
        while not holds(got := self.post(**headers)):
            assert time.monotonic() < deadline, got
            time.sleep(0.02)
        return got

    def _wait_for_port(self) -> int:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self._process.poll() is None:
            if self._admin_file.exists() and self._admin_file.read_text().count(":"):
                try:
                    listeners = json.loads(self.admin("/listeners?format=json"))["listener_statuses"]
                    if self.admin("/ready").strip() == b"LIVE":
                        return int(listeners[0]["local_address"]["socket_address"]["port_value"])
                except (OSError, KeyError, ValueError, http.client.HTTPException):
                    pass
            time.sleep(0.02)
        self.stop()
        raise AssertionError("Envoy does not serve:\n" + self._log.read_text()[-3000:])
