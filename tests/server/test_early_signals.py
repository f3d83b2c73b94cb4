"""Signals at moments when no loop takes them: while a server is still being imported, and while it is ending."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.server.conftest import ServerProcess
from tests.server.instance import until
from tests.server.processes import command_of, takes

Serve = Callable[..., ServerProcess]
ENDING = [signal.SIGTERM, signal.SIGINT]


@pytest.mark.parametrize("number", ENDING)
def test_one_that_comes_before_the_server_is_imported_ends_it_well(serve: Serve, number: signal.Signals) -> None:
    server = serve()
    until(lambda: takes(server.process.pid, signal.SIGTERM))
    server.process.send_signal(number)
    assert server.process.wait(20) == 0
    assert server.lines == []


def test_one_to_read_the_files_anew_does_not_end_it(serve: Serve) -> None:
    server = serve()
    until(lambda: takes(server.process.pid, signal.SIGTERM))
    server.process.send_signal(signal.SIGHUP)
    assert server.target
    assert server.stop() == 0


@pytest.mark.parametrize("number", ENDING)
def test_one_that_comes_while_a_supervisor_takes_the_place_ends_all_well(serve: Serve, number: signal.Signals) -> None:
    server = serve("--workers", "2")
    until(lambda: "workers.supervisor" in command_of(server.process.pid))
    server.process.send_signal(number)
    assert server.process.wait(30) == 0


@pytest.mark.parametrize("flags", [(), ("--workers", "2")], ids=["one process", "a supervisor"])
def test_signals_that_go_on_to_the_last_moment_change_nothing(serve: Serve, flags: tuple[str, ...]) -> None:
    server = serve(*flags)
    assert server.target
    deadline = time.monotonic() + 30
    while server.process.poll() is None and time.monotonic() < deadline:
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.002)
    assert server.process.wait(1) == 0


def test_a_first_worker_that_somebody_ends_does_not_end_the_server_without_a_word(serve: Serve) -> None:
    server = serve("--workers", "2", "--log-format", "json")
    first = until(lambda: _workers(server))[0]
    until(lambda: takes(first, signal.SIGTERM))
    os.kill(first, signal.SIGTERM)
    assert server.process.wait(30) == 1
    server.wait_for(r'"event":"the first worker has ended"')


def _workers(server: ServerProcess) -> list[int]:
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    return [int(one) for one in children if "router_service.cli serve" in command_of(int(one))]
