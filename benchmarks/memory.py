"""Memory and start: resident memory and the time from the start of the process to SERVING, at each size."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc
from grpc_health.v1 import health_pb2

from benchmarks.catalogues import SIZES, catalogue, models_of
from benchmarks.checking import DECIDE
from benchmarks.figures import Section, spread, table
from benchmarks.processes import Server, floor, service
from benchmarks.requests import requests

_CHECK = "/grpc.health.v1.Health/Check"
_WAIT_S = 120


def run(*, quick: bool = False) -> Iterator[Section]:
    """The section, after each size what there is so far."""
    rows: list[list[str]] = []
    with TemporaryDirectory() as folder, floor(1, Path(folder)) as empty:
        serving_after(empty.address, empty.started, answers_health=False)
        rows.append(["none: the floor", "", f"{empty.rss_mb():.0f}", ""])
    for size in SIZES[::2] if quick else SIZES:
        starts, before, after = [], [], 0.0
        for turn in range(1 if quick else 3):
            with TemporaryDirectory() as folder, service(catalogue(size).write(Path(folder)), Path(folder)) as server:
                starts.append(serving_after(server.address, server.started))
                before.append(server.rss_mb())
                if not turn:
                    _ask(server, size, 200 if quick else 2_000)
                    after = server.rss_mb()
        rows.append([f"{size:,}", spread(starts), spread(before, 0), f"{after:.0f}"])
        yield Section("Memory and start", tuple(_told(rows)))


def serving_after(address: str, started: float, *, answers_health: bool = True) -> float:
    """Seconds from `started` (of time.monotonic) until the server at `address` is SERVING."""
    with grpc.insecure_channel(address) as channel:
        if not answers_health:
            grpc.channel_ready_future(channel).result(timeout=_WAIT_S)
            return time.monotonic() - started
        check: Any = channel.unary_unary(_CHECK)
        while time.monotonic() < started + _WAIT_S:
            answer: bytes = check(b"", timeout=_WAIT_S, wait_for_ready=True)
            status = health_pb2.HealthCheckResponse.FromString(answer).status
            if status == health_pb2.HealthCheckResponse.SERVING:
                return time.monotonic() - started
            time.sleep(0.01)
    raise RuntimeError(f"not SERVING after {_WAIT_S} s")


def _ask(server: Server, size: int, count: int) -> None:
    """Different requests, so that what the service remembers is as full as it gets."""
    with grpc.insecure_channel(server.address) as channel:
        call: Any = channel.unary_unary(DECIDE)
        for message in requests(count, models_of(size)):
            call(message.SerializeToString(), timeout=30)


def _told(rows: list[list[str]]) -> Iterator[str]:
    yield (
        "Seconds from the start of the process to SERVING, and resident MB then: median (least–greatest) of several "
        "starts; and resident MB after 2,000 different requests."
    )
    yield ""
    yield from table(("endpoints", "s to SERVING", "MB", "MB after requests"), rows)
