"""Figures of a run: what the tables tell of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from benchmarks.simulation.caller import Came
from benchmarks.simulation.load import NOON
from benchmarks.simulation.run import Run

IN_A_ROW = 200  # decisions in a row that a share is taken of
GONE, BACK = 0.01, 0.9
SETTLED_MS = 2_000
BIN_MS = 2_000


Test = Callable[[Came], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Of one run. Shares are 0 to 1, times in s, cost of a thousand accepted answers in the catalogue's currency.

    *fault*: of the requests that came while endpoints misbehaved; *settled*: of those after its first two seconds.
    `share`: of primaries that misbehave; `gone_after` counts from when they begin to, `listed_after` (candidates again)
    and `back_after` (primaries again) from when they are well, None is never. `picks` is the share in each BIN_MS.
    """

    requests: int
    attempts_made: int
    outside: int
    served: float
    served_fault: float
    attempts: float
    attempts_settled: float
    cost: float
    p95: float
    share_before: float
    share_settled: float
    gone_after: float | None
    listed_after: float | None
    back_after: float | None
    picks: tuple[float, ...]


def measure(run: Run) -> Figures:
    """The figures of a run."""
    scenario, came = run.scenario, run.came
    begins, ends = NOON + scenario.begins_ms, NOON + scenario.ends_ms
    before = [one for one in came if one.at < begins]
    fault = [one for one in came if begins <= one.at < ends]
    settled = [one for one in fault if one.at >= begins + SETTLED_MS]
    after = [one for one in came if one.at >= ends]
    picked, listed = _share(before, run.picks), _share(before, run.lists)
    accepted = [one for one in came if one.accepted]
    return Figures(
        requests=len(came),
        attempts_made=sum(one.attempts for one in came),
        outside=sum(one.outside for one in came),
        served=len(accepted) / len(came),
        served_fault=_share(fault, lambda one: one.accepted),
        attempts=sum(one.attempts for one in came) / len(came),
        attempts_settled=sum(one.attempts for one in settled) / len(settled),
        cost=sum(one.cost for one in came) / len(accepted) / 1e9,
        p95=sorted(one.took for one in accepted)[len(accepted) * 95 // 100] / 1000,
        share_before=picked,
        share_settled=_share(settled, run.picks),
        gone_after=_first(fault, run.picks, lambda share, rest: share < GONE and rest < GONE),
        listed_after=_first(after, run.lists, lambda share, _: share >= BACK * listed),
        back_after=_first(after, run.picks, lambda share, _: share >= BACK * picked),
        picks=_binned(run),
    )


def _binned(run: Run) -> tuple[float, ...]:
    bins: list[list[Came]] = [[] for _ in range(0, run.scenario.lasts_ms, BIN_MS)]
    for one in run.came:
        bins[(one.at - NOON) // BIN_MS].append(one)
    return tuple(_share(one, run.picks) if one else 0.0 for one in bins)


def _share(came: Sequence[Came], test: Test) -> float:
    return sum(map(test, came)) / len(came)


def _first(came: Sequence[Came], test: Test, holds: Callable[[float, float], bool]) -> float | None:
    """How long after the first of them (s) it begins to hold; None where it never does.

    `holds` is given the share of the next IN_A_ROW that pass the test, and the share of all that are left.
    """
    passed = [0, *accumulate(map(test, came))]
    for number in range(len(came) - IN_A_ROW + 1):
        following = passed[number + IN_A_ROW] - passed[number]
        left = passed[-1] - passed[number]
        if holds(following / IN_A_ROW, left / (len(came) - number)):
            return (came[number].at - came[0].at) / 1000
    return None
