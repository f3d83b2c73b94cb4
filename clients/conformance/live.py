"""Runs a command beside a real service and a backend that does wrong.

    python -m clients.conformance.live KIND -- COMMAND

The command finds them in its environment as ROUTER_SERVICE_LIVE, a JSON object: `router` (host:port), `backend` and
`refused` (URLs; nobody listens at the second) and `kind`. What it is to see is in live.json.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clients.conformance.faults import Backend, closed_port, faulty_backend
from clients.conformance.serving import serving

RUNS: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "live.json").read_text("utf-8"))["runs"]


@dataclass(frozen=True, slots=True)
class Live:
    """Where they are."""

    router: str
    backend: str
    refused: str


def catalogue(kinds: tuple[str, ...]) -> str:
    """For every fault and each kind a model of its own, served by a cheap bad endpoint and a dear good one."""
    lines = ["currency: EUR", "default_policy: all", "policies: [{policy_id: all}]", "models:"]
    models = {f"{fault}-{kind}": fault for fault in RUNS for kind in kinds}
    lines += [f"  - {{model: {model}, model_type: text, context_window: 8192}}" for model in models]
    lines.append("endpoints:")
    for model, fault in models.items():
        for place, price in ((fault, 1), ("good", 9)):
            where = "provider: p, country: DE, sovereignty: eu-owned, kind: hosted, status: up"
            figures = f"latency_ms: 10, input_price: {price}, output_price: {price}"
            lines.append(f'  - {{endpoint_id: "{place}@{model}", model: {model}, {where}, {figures}}}')
    return "\n".join(lines) + "\n"


@contextmanager
def live(*kinds: str) -> Iterator[tuple[Live, Backend]]:
    """A service with a store and the catalogue of `kinds`, and the backend."""
    with tempfile.TemporaryDirectory() as folder, faulty_backend() as backend:
        catalog = Path(folder, "catalog.yaml")
        catalog.write_text(catalogue(kinds), "utf-8")
        arguments = ("--listen", "127.0.0.1:0", "--catalog", str(catalog), "--store", f"sqlite:{folder}/db")
        with serving(*arguments) as router:
            host = "http://127.0.0.1"
            yield Live(router, f"{host}:{backend.port}", f"{host}:{closed_port()}"), backend


def main(arguments: list[str]) -> int:
    """The exit code of the command."""
    if len(arguments) < 3 or arguments[1] != "--":
        print("usage: python -m clients.conformance.live KIND -- COMMAND", file=sys.stderr)
        return 2
    kind, _, *command = arguments
    with live(kind) as (places, _backend):
        told = json.dumps({**asdict(places), "kind": kind})
        return subprocess.run(command, env={**os.environ, "ROUTER_SERVICE_LIVE": told}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
