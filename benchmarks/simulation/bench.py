"""The simulation as a benchmark: `make bench ARGS=simulation`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.figures import Section
from benchmarks.simulation.compare import compare
from benchmarks.simulation.page import goal, write
from benchmarks.simulation.run import WARM_S
from benchmarks.simulation.scenarios import OUTAGE, SCENARIOS

SEEDS = (1, 2, 3, 4, 5)
QUICK_WARM_S = 60
# An outage that is over too soon for the endpoint to come back.
QUICK = replace(OUTAGE, before=6, fault=24, after=2)


def run(*, quick: bool = False) -> Iterator[Section]:
    """The section; where it is not `quick`, docs/simulation.md has all figures."""
    seeds = SEEDS[:1] if quick else SEEDS
    compared = compare((QUICK,) if quick else SCENARIOS, seeds, QUICK_WARM_S if quick else WARM_S, None)
    if not quick:
        write(compared, seeds)
    told = (
        "A full outage of the best endpoint on virtual time; docs/simulation.md tells what is simulated, and the rest."
    )
    yield Section("Simulation", (told, "", *goal(compared)))
