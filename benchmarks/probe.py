"""A prober for stalls: a health check every millisecond over one connection, and how long each answer took.

For each it also tells how much processor time the server's process used meanwhile: on one core, no more than that can
have been a stall of its own making; the rest of a wait is other programs' doing.

`python -m benchmarks.probe ADDRESS PID SECONDS` prints pairs of times in µs, as JSON.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from typing import Any

import grpc

INTERVAL_S = 0.001
_CHECK = "/grpc.health.v1.Health/Check"


def processor_clock(pid: int) -> int:
    """The clock of a process's processor time, as clock_getcpuclockid(3) makes it of a process id."""
    return ~pid << 3 | 2


def probe(address: str, pid: int, seconds: float) -> list[tuple[int, int]]:
    """For each check how long it took and what the server used, in µs. A check waits for the one before it."""
    times, clock = [], processor_clock(pid)
    gc.disable()
    with grpc.insecure_channel(address) as channel:
        check: Any = channel.unary_unary(_CHECK)
        check(b"", timeout=10, wait_for_ready=True)
        begun = due = time.monotonic()
        while due < begun + seconds:
            start, before = time.monotonic(), time.clock_gettime(clock)
            check(b"", timeout=10)
            ended, after = time.monotonic(), time.clock_gettime(clock)
            times.append((round((ended - start) * 1e6), round((after - before) * 1e6)))
            due = max(due + INTERVAL_S, ended)
            time.sleep(max(0.0, due - time.monotonic()))
    return times


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
