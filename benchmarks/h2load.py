"""One round of load by several h2load processes at once, each with a body of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import Server, pinned
from benchmarks.rounds import Round, measured

WARM_UP_US = 300_000
_MARGIN_S = 60


def is_there() -> bool:
    """Whether the machine has h2load (Debian's nghttp2-client)."""
    return shutil.which("h2load") is not None


def load(
    server: Server,
    method: str,
    bodies: Sequence[Path],
    folder: Path,
    *,
    seconds: float,
    streams: int,
    rate: float | None = None,
    authorization: str = "",
) -> Round:
    """Loads one method with up to `streams` calls at a time a body, over one connection each.

    At `rate` calls a second over all bodies, or at as many as are answered; each shows `authorization`. Only what ends
    while all processes are running counts, without a warm-up. RuntimeError where a call fails.
    """
    url, before = f"http://{server.address}{method}", server.cpu_s()
    logs = [folder / f"h2load-{number}.log" for number in range(len(bodies))]
    more = [f"--rps={max(1, round(rate / len(bodies)))}"] if rate else []
    more += [f"--header=authorization: {authorization}"] if authorization else []
    running = [
        subprocess.Popen(
            pinned(server.generator_cores, _command(url, body, log, seconds, streams, more)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for body, log in zip(bodies, logs, strict=True)
    ]
    for process in running:
        _, said = process.communicate(timeout=seconds + _MARGIN_S)
        if process.returncode:
            raise RuntimeError(f"h2load: {said.decode(errors='replace')}")
    used = server.cpu_s() - before
    return counted([_read(log) for log in logs], used)


def _command(url: str, body: Path, log: Path, seconds: float, streams: int, more: list[str]) -> list[str]:
    log.unlink(missing_ok=True)
    return [
        "h2load",
        f"--duration={seconds * 1000 + WARM_UP_US / 1000:.0f}ms",
        "--clients=1",
        f"--max-concurrent-streams={streams}",
        f"--data={body}",
        "--header=content-type: application/grpc",
        "--header=te: trailers",
        f"--log-file={log}",
        *more,
        url,
    ]


def _read(log: Path) -> list[tuple[int, int]]:
    """(end, time) of every call in µs."""
    calls = []
    for line in log.read_text(encoding="ascii").splitlines():
        start, status, took = line.split("\t")[:3]
        if status == "200":
            calls.append((int(start) + int(took), int(took)))
        elif status != "-1":  # -1: cut off by the end of the round
            raise RuntimeError(f"h2load: a call was answered with HTTP status {status}")
    if not calls:
        raise RuntimeError("h2load: no call was answered")
    return calls


def counted(logs: Sequence[list[tuple[int, int]]], cpu_s: float) -> Round:
    """The figures of a round from the calls of each process."""
    begin = max(log[0][0] - log[0][1] for log in logs) + WARM_UP_US
    finish = min(log[-1][0] for log in logs)
    times = [took for log in logs for end, took in log if begin <= end < finish]
    if not times:
        raise RuntimeError("h2load: the round was too short to measure")
    return measured(times, (finish - begin) / 1e6, cpu_s / sum(map(len, logs)) * 1e6)
