"""A caller that asks for a decision every few milliseconds, whatever others do, and how long each answer took.

For each it also tells how much processor time the server used meanwhile, which is what the server itself let it wait.
`python -m benchmarks.bystander ADDRESS PID SECONDS TOKEN` prints pairs of times in µs, as JSON.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from contextlib import suppress
from typing import Any

import grpc

from benchmarks.checking import DECIDE
from benchmarks.probe import processor_clock
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.route_pb2 import RouteRequest

INTERVAL_S = 0.004
_BEFORE_OTHERS = -10  # so that a flood's own work on the same core does not count as the server's


def asked(address: str, pid: int, seconds: float, token: str) -> list[tuple[int, int]]:
    """How long each answer took, and what the server used meanwhile; the one before is waited for.

    Raises grpc.RpcError where one does not come.
    """
    with suppress(OSError):
        os.nice(_BEFORE_OTHERS)
    message = pb.DecideRequest(request=RouteRequest(task="coding", input_tokens=1_200)).SerializeToString()
    metadata = (("authorization", token),) if token else ()
    times, clock = [], processor_clock(pid)
    gc.disable()
    with grpc.insecure_channel(address) as channel:
        decide: Any = channel.unary_unary(DECIDE)
        decide(message, metadata=metadata, timeout=30, wait_for_ready=True)
        begun = due = time.monotonic()
        while due < begun + seconds:
            start, before = time.monotonic(), time.clock_gettime(clock)
            decide(message, metadata=metadata, timeout=30)
            ended, after = time.monotonic(), time.clock_gettime(clock)
            times.append((round((ended - start) * 1e6), round((after - before) * 1e6)))
            due = max(due + INTERVAL_S, ended)
            time.sleep(max(0.0, due - time.monotonic()))
    return times


if __name__ == "__main__":
    print(json.dumps(asked(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])))
