"""A real service, a real proxy in a process of its own, and what both are told of the provider on loopback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import yaml

from clients.conformance.faults import closed_port
from clients.openai_proxy.tests.behaviours import BEHAVIOURS

T = TypeVar("T")
PATIENCE_S = 30
KEY = "backend-secret-4711"

# Models by the behaviours of their endpoints, the cheapest first. What leaves a pause at an endpoint is here once for
# each test that needs it.
ALONE = {name: (name,) for name in BEHAVIOURS}
WITH_GOOD = {f"{name}-then-good": (name, "good") for name in [*BEHAVIOURS, "refused"] if name != "good"}
MODELS: dict[str, tuple[str, ...]] = {
    **ALONE,
    **WITH_GOOD,
    "refused": ("refused",),
    "error-first-then-dies": ("error-first", "dies"),
    "limited-node": ("limited",),
    "dies-node": ("dies",),
    "endless-node": ("endless",),
    "unreachable": ("nobody",),
    "unreachable-then-good": ("nobody", "good"),
}


def catalogue(models: Mapping[str, tuple[str, ...]] = MODELS, address: str = "") -> str:
    """Every model with an endpoint BEHAVIOUR@MODEL for each of its behaviours; `address` ends before /BEHAVIOUR/v1."""
    known = "model_type: text, context_window: 100000, tools: true, structured_output: strict"
    lines = ["currency: EUR", "default_policy: all", "policies:", "  - {policy_id: all}"]
    lines += ["  - {policy_id: owned, residency: [eu-owned]}", "  - {policy_id: poor, max_price: 0.5}"]
    lines += ["models:", *(f"  - {{model: {one}, {known}, input_modalities: [text, image]}}" for one in models)]
    lines += ["  - {model: vectors, model_type: embedding, context_window: 8192}", "endpoints:"]
    for model, behaviours in {**models, "vectors": ("good",)}.items():
        for price, behaviour in enumerate(behaviours, 1):
            where = "provider: p, region: eu-1, country: DE, sovereignty: eu-hosted, model_version: v7"
            figures = f"latency_ms: 10, input_price: {price}, output_price: {price}"
            if address:
                figures += f", address: {address}/{behaviour}/v1, upstream_model: {model}-by-its-other-name"
            lines.append(f'  - {{endpoint_id: "{behaviour}@{model}", model: {model}, {where}, {figures}}}')
    lines += ["workloads:", "  - {name: chat, version: '1', requires_tools: true}"]
    return "\n".join(lines) + "\n"


def settings(target: str, port: int, **more: Any) -> dict[str, Any]:
    """A configuration with a backend for each behaviour; the catalogue's slug goes by another name there."""
    backends: list[dict[str, Any]] = [
        {
            "endpoints": [f"{name}@*"],
            "base_url": f"http://127.0.0.1:{port}/{name}/v1",
            "credential": {"env": "BACKEND_KEY"},
            "models": {"good": "good-2026-11"},
            "headers": {"X-Title": "tests"},
        }
        for name in BEHAVIOURS
    ]
    backends.append({"endpoints": ["refused@*"], "base_url": f"http://127.0.0.1:{closed_port()}/v1"})
    return {"listen": "127.0.0.1:0", "service": {"target": target}, "backends": backends, **more}


def until(holds: Callable[[], T]) -> T:
    """What `holds` gives once that is true; fails where it does not become so."""
    limit = time.monotonic() + PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < limit, "it did not come about"
        time.sleep(0.02)
    return found


class ProxyProcess:
    """`router-openai-proxy --config` with these settings, in a folder of its own."""

    def __init__(self, folder: Path, said: Mapping[str, Any], *arguments: str) -> None:
        path = folder / "proxy.yaml"
        path.write_text(yaml.safe_dump(dict(said)), "utf-8")
        command = [sys.executable, "-m", "router_openai_proxy", "--config", str(path), *arguments]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**os.environ, "BACKEND_KEY": KEY}
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    @property
    def url(self) -> str:
        """The base URL for SDKs."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and (self.process.poll() is None or self._reader.is_alive()):
            for line in self.lines:
                if found := re.fullmatch(r"listening on (\S+)", line):
                    return found[1]
            time.sleep(0.01)
        raise AssertionError("\n".join(self.lines))

    @property
    def root(self) -> str:
        """Where its probes are."""
        return self.url.removesuffix("/v1")

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The lines of its log of one kind."""
        told = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [one for one in told if one["event"] == event]

    def rss_mb(self) -> float:
        """What it takes of memory now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1024

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._reader.join(PATIENCE_S)
        return code


@contextmanager
def proxying(folder: Path, said: Mapping[str, Any]) -> Iterator[ProxyProcess]:
    """A proxy that listens."""
    proxy = ProxyProcess(folder, said)
    try:
        assert proxy.url
        yield proxy
    finally:
        proxy.stop()
        if proxy.process.stderr is not None:
            proxy.process.stderr.close()
