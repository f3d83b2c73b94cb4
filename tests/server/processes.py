"""Processes of a server as tests see and kill them, through /proc."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

PATIENCE_S = 30


def started_by(pid: int) -> list[int]:
    """The processes that any thread of a process has started and that have not been waited for."""
    found = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += [int(child) for child in (task / "children").read_text().split()]
    return found


def command_of(pid: int) -> str:
    """With spaces between its words; empty where it is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def kill_loader(server: int) -> None:
    """Waits for the process that loads a catalogue for a server, and kills it as a system out of memory does."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for pid in started_by(server):
            if "router_service.catalog.aside" in command_of(pid):
                os.kill(pid, signal.SIGKILL)
                return
        time.sleep(0.002)
    raise AssertionError("no catalogue was loaded")


def takes(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal, in Python or in C."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False
