"""Run: one scenario with one strategy under one seed, from its first request to its last answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from benchmarks.simulation.caller import Caller, Came
from benchmarks.simulation.events import Events, Process
from benchmarks.simulation.load import NOON, Operation, operations
from benchmarks.simulation.scenarios import Scenario
from benchmarks.simulation.strategies import BEAT_MS, Lesson, Ours, Strategy, strategy
from benchmarks.simulation.world import World

_LAST_MS = 60_000  # until whatever was begun is over: longer than any deadline
WARM_S, WARM_RATE = 300, 25
_OTHER_DRAWS = 1 << 16  # added to a seed


@dataclass(frozen=True, slots=True)
class Run:
    """What came of the requests of a run, and the endpoints that misbehaved."""

    scenario: Scenario
    came: tuple[Came, ...]
    faulty: frozenset[str]

    def picks(self, one: Came) -> bool:
        """Whether the primary of a decision is one of those that misbehave."""
        return bool(one.listed) and one.listed[0] in self.faulty

    def lists(self, one: Came) -> bool:
        """Whether any of its candidates is."""
        return not self.faulty.isdisjoint(one.listed)


def run(scenario: Scenario, name: str, seed: int, warm_s: int = WARM_S) -> Run:
    """Runs it. Raises AssertionError where an attempt was outside its decision or its policy."""
    load = scenario.load(seed)
    faulty = scenario.faulty(load)
    world = World(seed, faulty, scenario.phases())
    came = went(load, scenario.rate, world, strategy(name, seed, NOON, lessons(seed, warm_s)), seed)
    outside = sum(one.outside for one in came)
    if outside:
        raise AssertionError(f"{scenario.name}, {name}, seed {seed}: {outside} attempts outside their decisions")
    return Run(scenario, came, faulty)


@lru_cache(maxsize=1)
def lessons(seed: int, warm_s: int) -> tuple[Lesson, ...]:
    """What the service is told in so long a time of nothing wrong, which ends before NOON."""
    began = NOON - 1000 * warm_s - _LAST_MS
    ours = Ours(began)
    load = operations(seed, warm_s * WARM_RATE)
    went(load, WARM_RATE, World(seed + _OTHER_DRAWS, (), ()), ours, seed, began)
    return tuple(ours.lessons)


def went(
    load: tuple[Operation, ...], rate: int, world: World, chosen: Strategy, seed: int, began: int = NOON
) -> tuple[Came, ...]:
    """What came of operations that come at so many a second from `began` (ms) on."""
    events = Events(began)
    caller = Caller(events, world, chosen, seed)
    events.start(_beats(events, chosen))
    for one in load:
        events.start(caller.operation(one), one.at_ms(rate))
    events.run(began + load[-1].at_ms(rate) + _LAST_MS)
    return tuple(caller.came)


def _beats(events: Events, chosen: Strategy) -> Process:
    while True:
        chosen.beat(events.now)
        yield BEAT_MS
