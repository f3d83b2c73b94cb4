"""Rounds of load by a Go program (load/main.go): different messages in each call, over unary calls or streams."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import GENERATOR_CORE, Server, pinned
from benchmarks.rounds import Round

MISSING = "no Go here to build the generator of different messages"
_SOURCE = Path(__file__).resolve().parent / "load"
_BUILD_S, _MARGIN_S = 300, 60


@dataclass(frozen=True, slots=True)
class Shape:
    """How a round loads: connections, unary calls or streams at a time over all of them, messages a stream has open."""

    connections: int
    workers: int
    stream: bool = False
    window: int = 1


class Unbuildable(Exception):
    """The generator cannot be built here."""


class Generator:
    """The program, built into a folder. Raises Unbuildable."""

    def __init__(self, folder: Path) -> None:
        if shutil.which("go") is None:
            raise Unbuildable(MISSING)
        source = shutil.copytree(_SOURCE, folder / "load")
        self._program = folder / "load" / "program"
        self._sent: dict[tuple[int, str], int] = {}
        built = subprocess.run(
            ["go", "build", "-o", str(self._program), "."],
            cwd=source,
            capture_output=True,
            timeout=_BUILD_S,
            check=False,
        )
        if built.returncode:
            raise Unbuildable(f"go build failed: {built.stderr.decode(errors='replace').strip()[-500:]}")

    def load(
        self, server: Server, method: str, bodies: Path, shape: Shape, *, seconds: float, authorization: str = ""
    ) -> Round:
        """One round, with the messages after those that this server had before. RuntimeError where a call fails."""
        address, before, had = server.address, server.cpu_s(), (server.pid, method)
        done = subprocess.run(
            pinned(GENERATOR_CORE, [
                str(self._program),
                f"-address={address}",
                f"-method={method}",
                f"-bodies={bodies}",
                f"-connections={shape.connections}",
                f"-workers={shape.workers}",
                f"-stream={str(shape.stream).lower()}",
                f"-window={shape.window}",
                f"-first={self._sent.get(had, 0)}",
                f"-duration={seconds}s",
                f"-authorization={authorization}",
            ]),
            capture_output=True,
            timeout=seconds + _MARGIN_S,
            check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        said = json.loads(done.stdout)
        self._sent[had] = self._sent.get(had, 0) + said["every"]
        cpu = (server.cpu_s() - before) / said["every"] * 1e6
        return Round(said["calls"] / said["seconds"], said["p50"], said["p99"], cpu, said["core"])


def write_bodies(messages: Iterable[bytes], path: Path) -> Path:
    """The file that the program reads: each message behind its length."""
    path.write_bytes(b"".join(struct.pack(">I", len(message)) + message for message in messages))
    return path
