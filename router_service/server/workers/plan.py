"""The plan of a supervisor: all that it needs to know, as plain values, since it imports as little as it can."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

import msgspec

from router_service.server.signals import ENDING

VARIABLE = "_ROUTER_SERVICE_PLAN"
WORKERS_MAX = 64


class Port(msgspec.Struct, frozen=True):
    """An address to listen on as it was written, with the numeric addresses of its host; none for a Unix socket."""

    text: str
    hosts: tuple[str, ...]
    port: int


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How many workers, and what each of them and the supervisor is to do.

    `command` starts a worker, `loader` loads the catalogue; `drain_s` is how long a worker may take to end; `admin` is
    a host and a port.
    """

    workers: int
    command: tuple[str, ...]
    loader: tuple[str, ...]
    listen: tuple[Port, ...]
    health: Port | None
    admin: tuple[str, int] | None
    catalog: str
    drain_s: float
    log_level: str
    log_format: str


def become_supervisor(plan: Plan) -> NoReturn:
    """Puts a supervisor in the place of this process, so that nothing of what it has imported stays in memory."""
    environment = {**os.environ, VARIABLE: msgspec.json.encode(plan).decode()}
    command = [sys.executable, "-m", "router_service.server.workers.supervisor"]
    sys.stderr.flush()
    # They wait until the supervisor can take them.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    os.execve(sys.executable, command, environment)  # noqa: S606 - this very interpreter, and no shell


def taken_plan() -> Plan:
    """The plan of this process. What it starts itself has none."""
    return msgspec.json.decode(os.environ.pop(VARIABLE), type=Plan)
