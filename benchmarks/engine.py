"""Engine: microseconds per decide and per explain, in-process, at 10 to 20,000 endpoints.

Times are of the processor (of this thread), so that other load on the machine has little part in them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.catalogues import SIZES, models_of
from benchmarks.figures import Section, at_most, median, table
from benchmarks.inprocess import InProcess
from benchmarks.requests import requests
from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import Policy
from router_service.domain.request import RouteRequest
from router_service.engine.decide import decide
from router_service.engine.explain import explain
from router_service.engine.index import Index
from router_service.server.app import wall_clock

FIRST_GOAL, REPEATED_GOAL, GROWTH_GOAL = 300.0, 10.0, 12.0
_GOAL_SIZE, _GROWN_SIZE = 500, 20_000
_SLICE_NS = 20_000_000  # one sample of a repeated request lasts at least so long

Case = tuple[Policy, RouteRequest]


def run(*, quick: bool = False) -> Iterator[Section]:
    """The section, after each size what there is so far."""
    rows: list[list[str]] = []
    repeated: dict[int, float] = {}
    for size in SIZES[::2] if quick else SIZES:
        with TemporaryDirectory() as folder:
            row, repeated[size] = measure(size, Path(folder), quick=quick)
        rows.append(row)
        yield Section("Engine", tuple(_told(rows, repeated)))


def measure(size: int, folder: Path, *, quick: bool) -> tuple[list[str], float]:
    """The row of a size, and the µs of a repeated decide."""
    engine, now = InProcess(size, folder), wall_clock()
    snapshot = engine.snapshot
    cases = [
        (engine.policy(ask), ask.request)
        for ask in (engine.ask(one.SerializeToString()) for one in requests(_cases(size, quick=quick), models_of(size)))
    ]
    fresh = max(3, min(40, 20_000 // size)) // (3 if quick else 1)
    cold, compiled = _first(snapshot.content.endpoints, cases[:fresh], now)
    half = len(cases) // 2
    few = cases[: 20 if quick else 60]
    again = [repeated(partial(decide, snapshot.index, *case, now)) for case in few]
    _each(snapshot.index, cases[:half], now)
    varied = _each(snapshot.index, cases[half:], now)
    told_all = cases[: 3 if size > 1_000 else 20]
    explained = [_once(partial(explain, snapshot.index, *case, now)) for case in told_all]
    explained_again = [_once(partial(explain, snapshot.index, *case, now)) for case in told_all]
    return [
        f"{size:,}",
        f"{median(cold):,.0f}",
        f"{median(compiled):,.0f}",
        f"{median(again):.1f} ({max(again):.1f})",
        f"{sum(varied) / len(varied):,.0f}",
        f"{median(varied):,.0f}",
        f"{median(explained):,.0f}",
        f"{median(explained_again):,.0f}",
    ], median(again)


def _cases(size: int, *, quick: bool) -> int:
    """How many different requests: fewer where each takes long."""
    return 400 if quick else 4_000 if size < 5_000 else 1_200


def _first(endpoints: Sequence[Endpoint], cases: Sequence[Case], now: int) -> tuple[list[float], list[float]]:
    """The first decide of an index, for each case on one of its own: with its policy to compile, and without."""
    cold: list[float] = []
    compiled: list[float] = []
    for policy, request in cases:
        for times, compile_before in ((cold, False), (compiled, True)):
            index = Index(endpoints)
            if compile_before:
                index.sets_of(policy)
            times.append(_once(partial(decide, index, policy, request, now)))
    return cold, compiled


def _each(index: Index, cases: Sequence[Case], now: int) -> list[float]:
    """The time of each of a stream of different requests."""
    return [_once(partial(decide, index, *case, now)) for case in cases]


def _once(call: Callable[[], object]) -> float:
    start = time.thread_time_ns()
    call()
    return (time.thread_time_ns() - start) / 1_000


def repeated(call: Callable[[], object], slice_ns: int = _SLICE_NS) -> float:
    """µs of one call of very many; the median of five samples."""
    count = 1
    samples: list[float] = []
    while len(samples) < 5:
        start = time.thread_time_ns()
        for _ in range(count):
            call()
        took = time.thread_time_ns() - start
        if took < slice_ns / 5:
            count *= 4
        else:
            samples.append(took / count / 1_000)
    return median(samples)


def _told(rows: list[list[str]], repeated_us: dict[int, float]) -> Iterator[str]:
    yield (
        "µs of processor time. *First*: the first decide of a fresh index, with its policy to compile and without. "
        "*Repeated*: the same request again and again (median and greatest over requests). *Varied*: each request "
        "another one, none asked before, on an index that has answered as many others. Explain names every endpoint."
    )
    yield ""
    yield from table(
        ("endpoints", "first", "first, policy compiled", "repeated", "varied, mean", "varied, median",
         "explain first", "explain again"),
        rows,
    )  # fmt: skip
    yield ""
    for row in rows:
        if row[0] == f"{_GOAL_SIZE}":
            yield f"- first over {_GOAL_SIZE}, policy compiled, {at_most(float(row[2].replace(',', '')), FIRST_GOAL)}"
            yield f"- repeated over {_GOAL_SIZE} {at_most(repeated_us[_GOAL_SIZE], REPEATED_GOAL)}"
    if repeated_us.keys() >= {_GOAL_SIZE, _GROWN_SIZE}:
        growth = repeated_us[_GROWN_SIZE] / repeated_us[_GOAL_SIZE]
        yield f"- repeated at {_GROWN_SIZE:,} over {_GOAL_SIZE}: {growth:.1f} {at_most(growth, GROWTH_GOAL)}"
