"""Servers in processes of their own, pinned to one core; generators to another."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

START_S, STOP_S = 120, 20
_CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, GENERATOR_CORE = _CORES[0], _CORES[-1]
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


EVERY_CORE = ",".join(map(str, _CORES))
CORES = len(_CORES)


def pinned(cores: int | str, command: list[str]) -> list[str]:
    """The command on one core, or on some (where the machine has taskset)."""
    return ["taskset", "--cpu-list", str(cores), *command] if shutil.which("taskset") else command


class Server:
    """A server's process; a context manager. What it says on stderr goes to a file, as a supervisor would have it."""

    def __init__(
        self,
        module: str,
        arguments: list[str],
        folder: Path,
        *,
        under: Sequence[str] = (),
        cores: int | str = SERVER_CORE,
    ) -> None:
        """`under` is a program that runs it, such as a profiler."""
        self._said = folder / f"{module}-{time.monotonic_ns()}.log"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ROUTER_SERVICE_")}
        self.started = time.monotonic()
        with self._said.open("wb") as stderr:
            self._process = subprocess.Popen(
                pinned(cores, [*under, sys.executable, "-m", module, *arguments]),
                stderr=stderr,
                stdout=subprocess.DEVNULL,
                env=environment,
                cwd=Path(__file__).resolve().parents[1],
            )
        self.pid = self._process.pid
        self.generator_cores = GENERATOR_CORE if cores == SERVER_CORE else cores
        """Where whoever loads it runs: on a core of its own, if the server does not have all."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def said(self) -> str:
        """All that it has said."""
        return self._said.read_text(encoding="utf-8", errors="replace")

    def said_bytes(self) -> int:
        """How much it has said."""
        return self._said.stat().st_size

    def wait_for(self, pattern: str) -> str:
        """The first group of the first match in what it says."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if found := re.search(pattern, self.said()):
                return found[1]
            if self._process.poll() is not None:
                break
            time.sleep(0.005)
        raise RuntimeError(f"the server did not say {pattern!r}:\n{self.said()[-2_000:]}")

    @cached_property
    def address(self) -> str:
        """Where it answers, once it does."""
        return self.wait_for(r"listening on (\S+)")

    def cpu_s(self) -> float:
        """The processor time that it has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * TICK_S

    def rss_mb(self) -> float:
        """Resident memory, without what its children hold."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"^VmRSS:\s+([0-9]+) kB", status, re.MULTILINE)
        return int(found[1]) / 1024 if found else 0.0


PLAIN = ("--store", "none", "--admin", "127.0.0.1:0")


def service(catalogue: Path, folder: Path, flags: Sequence[str] = PLAIN, *, cores: int | str = SERVER_CORE) -> Server:
    """`router-service serve` with a catalogue, on a port of the system's choice."""
    arguments = ["serve", "--listen", "127.0.0.1:0", "--catalog", str(catalogue), "--drain-delay", "0", "--grace", "1"]
    return Server("router_service.cli", [*arguments, *flags], folder, cores=cores)


def floor(size: int, folder: Path) -> Server:
    """The floor with answers of `size` bytes."""
    return Server("benchmarks.floor", [str(size)], folder)
