"""Compare: every scenario with every strategy under every seed, on several cores; their order changes nothing."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks.simulation.measure import Figures, measure
from benchmarks.simulation.run import WARM_S, run
from benchmarks.simulation.scenarios import OUTAGE, Scenario
from benchmarks.simulation.strategies import COMPARED, LATE

Compared = dict[tuple[str, str], tuple[Figures, ...]]
"""By scenario and strategy, the figures of each seed."""

_Job = tuple[tuple[Scenario, ...], int, int]


def compare(
    scenarios: Sequence[Scenario], seeds: Sequence[int], warm_s: int = WARM_S, cores: int | None = 1
) -> Compared:
    """Runs them all; `cores` None is all there are. The service has learned for `warm_s` before each."""
    # The first has as many requests as all others together, and to draw those of a seed takes its time too.
    parts = [part for part in (tuple(scenarios[:1]), tuple(scenarios[1:])) if part]
    jobs: list[_Job] = [(part, seed, warm_s) for seed in seeds for part in parts]
    cores = min(cores or os.cpu_count() or 1, len(jobs))
    found: dict[tuple[str, str], list[Figures]] = {}
    for done in _done(jobs, cores):
        for key, figures in done.items():
            found.setdefault(key, []).append(figures)
    return {key: tuple(figures) for key, figures in found.items()}


def _done(jobs: Sequence[_Job], cores: int) -> Iterable[dict[tuple[str, str], Figures]]:
    if cores == 1:
        return list(map(_run, jobs))
    # Not forked: whoever calls may have threads.
    with ProcessPoolExecutor(cores, multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(_run, jobs))


def _run(job: _Job) -> dict[tuple[str, str], Figures]:
    scenarios, seed, warm_s = job
    return {
        (scenario.name, name): measure(run(scenario, name, seed, warm_s))
        for scenario in scenarios
        for name in ((*COMPARED, LATE) if scenario.name == OUTAGE.name else COMPARED)
    }
