"""A prober for stalls: a health check every millisecond over one connection, and how long each answer took.

`python -m benchmarks.probe ADDRESS SECONDS` prints the times in µs, as JSON.
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


def probe(address: str, seconds: float) -> list[int]:
    """The times of all answers in µs. A check waits for the one before it, so that a stall counts once."""
    times = []
    gc.disable()
    with grpc.insecure_channel(address) as channel:
        check: Any = channel.unary_unary(_CHECK)
        check(b"", timeout=10, wait_for_ready=True)
        begun = due = time.monotonic()
        while due < begun + seconds:
            start = time.monotonic()
            check(b"", timeout=10)
            ended = time.monotonic()
            times.append(round((ended - start) * 1e6))
            due = max(due + INTERVAL_S, ended)
            time.sleep(max(0.0, due - time.monotonic()))
    return times


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1], float(sys.argv[2]))))
