"""The untimed pass before a benchmark: every answer of the server is the engine's, whoever is asked first."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc

from benchmarks.inprocess import InProcess, comparable
from benchmarks.processes import Server

DECIDE = "/router_service.v1.RouterService/Decide"
DECIDE_STREAM = "/router_service.v1.RouterService/DecideStream"


def verify(server: Server, size: int, messages: Sequence[bytes], folder: Path, authorization: str = "") -> int:
    """Checks the answer of every message; returns the median size of an answer. AssertionError where one differs."""
    engine, sizes = InProcess(size, folder), []
    metadata = (("authorization", authorization),) if authorization else ()
    with grpc.insecure_channel(server.address) as channel:
        call: Any = channel.unary_unary(DECIDE)
        for message in messages:
            expected = comparable(engine.answer(message))
            for _ in range(2):  # the second answer may come from a memory
                answer: bytes = call(message, timeout=30, metadata=metadata)
                said = comparable(answer)
                if said != expected:
                    raise AssertionError(f"the server answered\n{said}\nand the engine\n{expected}")
            sizes.append(len(answer))
    return int(statistics.median(sizes))
