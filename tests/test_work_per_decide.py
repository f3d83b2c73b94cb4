"""The work of a Decide, counted in bytecodes from the request's bytes to the answer's: the same on every machine.

A change that makes a Decide do more fails here; one that makes it do less should lower the number. Counted with
Python 3.11; later versions need fewer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from benchmarks.inprocess import door
from router_service.catalog.content import Content
from router_service.catalog.snapshot import Snapshot
from router_service.domain.policy import Policy
from router_service.domain.workload import Workload
from router_service.v1.route_pb2 import RouteRequest
from router_service.v1.router_service_pb2 import DecideRequest, DecideResponse
from tests.builders import NOW, endpoint

WITH_TOKEN = "the same with a token"  # noqa: S105 - a name
# Bytecodes of one Decide at 500 endpoints, by what of it was asked before.
RECORDED = {
    "the same request": 1_050,
    WITH_TOKEN: 1_150,
    "the same under a workload": 1_115,
    "other tokens": 4_040,
    "another deadline": 4_975,
}
MARGIN = 1.15

_REQUESTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "the same request": lambda turn: {"input_tokens": 1200},
    WITH_TOKEN: lambda turn: {"input_tokens": 1200},
    "the same under a workload": lambda turn: {"input_tokens": 1200, "workload": "chat"},
    # The mix of tokens stays as it is, so that what survives ranks as before.
    "other tokens": lambda turn: {"input_tokens": 1200 + turn},
    "another deadline": lambda turn: {"input_tokens": 1200, "deadline_ms": 30_000 + turn},
}


def bytecodes(call: Callable[[], object]) -> int:
    """How many bytecodes Python runs in a call."""
    counted = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal counted
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        counted += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return counted


def snapshot(size: int) -> Snapshot:
    """As many endpoints of 200 models, with facts that let a third of them through."""
    places = ("eu-owned", "eu", "us", "unknown")
    endpoints = (
        endpoint(
            f"m{number % 200}@p{number}",
            places[number % 4],
            input_price=1 + number % 7,
            output_price=3 + number % 11,
            context_window=8_192 << number % 5,
            latency_ms=300 + number % 97,
            tokens_per_second=20 + number % 53,
            tools=number % 3 > 0,
        )
        for number in range(size)
    )
    policies = (Policy.read({"policy_id": "eu", "provider_deny": ["p7*"], "max_price": 6}),)
    ordered = tuple(sorted(endpoints, key=lambda one: one.endpoint_id.encode()))
    workloads = (Workload.read({"name": "chat", "version": "1", "requires_tools": True, "output_tokens": 400}),)
    content = Content(currency="EUR", endpoints=ordered, policies=policies, default_policy="eu", workloads=workloads)
    return Snapshot.of(content, NOW)


def message(fields: dict[str, Any]) -> bytes:
    workload = fields.pop("workload", "")
    request = RouteRequest(task="coding", language="de", requires_tools=True, output_tokens=400, **fields)
    return DecideRequest(request_id="r1", workload=workload, request=request).SerializeToString()


def work(size: int, callers: Path) -> dict[str, int]:
    """The bytecodes of one Decide of each kind, after several before it."""
    served = snapshot(size)
    plain, known, counted = door(served), door(served, callers=callers), {}
    for kind, fields in _REQUESTS.items():
        call = known if kind == WITH_TOKEN else plain
        for turn in range(20):
            assert len(DecideResponse.FromString(call(message(fields(turn)))).decision.candidates) == 3
        counted[kind] = bytecodes(partial(call, message(fields(20))))
    return counted


@pytest.fixture(scope="module")
def at_500(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    return work(500, tmp_path_factory.mktemp("callers"))


@pytest.fixture(scope="module")
def at_5000(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    return work(5_000, tmp_path_factory.mktemp("callers"))


@pytest.mark.parametrize("kind", RECORDED)
def test_a_decide_works_no_more_than_recorded(kind: str, at_500: dict[str, int]) -> None:
    assert at_500[kind] <= RECORDED[kind] * MARGIN


@pytest.mark.parametrize("kind", RECORDED)
def test_ten_times_the_endpoints_make_no_more_work(kind: str, at_500: dict[str, int], at_5000: dict[str, int]) -> None:
    assert at_5000[kind] <= at_500[kind] * MARGIN
