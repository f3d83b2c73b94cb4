"""Scenarios: which endpoints do what for how long, at how many requests a second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

from benchmarks.simulation.load import Operation, catalogue, operations
from benchmarks.simulation.world import Behaviour, Phase

_SPARE = 6  # standard deviations of how many come

BEST, ITS_PROVIDER, NOBODY = "the best endpoint", "all endpoints of its provider", "nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Times in s: all is well for `before`, then `who` misbehaves for `fault`, then all is well again for `after`.

    With `swing` it misbehaves and is well in turns of so many seconds.
    """

    name: str
    about: str
    behaviour: Behaviour
    who: str = BEST
    rate: int = 15
    before: int = 20
    fault: int = 60
    after: int = 90
    swing: int = 0

    @property
    def begins_ms(self) -> int:
        """When the fault begins."""
        return 1000 * self.before

    @property
    def ends_ms(self) -> int:
        """When the fault ends."""
        return 1000 * (self.before + self.fault)

    @property
    def lasts_ms(self) -> int:
        """How long requests come."""
        return 1000 * (self.before + self.fault + self.after)

    def load(self, seed: int) -> tuple[Operation, ...]:
        """The requests that come meanwhile."""
        expected = self.rate * self.lasts_ms // 1000
        found = operations(seed, expected + _SPARE * isqrt(expected))
        return tuple(one for one in found if one.at_ms(self.rate) < self.lasts_ms)

    def phases(self) -> Iterator[Phase]:
        """The times at which the endpoints misbehave."""
        length = 1000 * (self.swing or self.fault)
        for since in range(self.begins_ms, self.ends_ms, 2 * length if self.swing else length):
            yield Phase(since, min(since + length, self.ends_ms), self.behaviour)

    def faulty(self, load: tuple[Operation, ...]) -> frozenset[str]:
        """The endpoints that misbehave; the best one is first for most requests while nothing is known of any."""
        index = catalogue().index
        best = Counter(one.at_rest.candidates[0].endpoint_id for one in load).most_common(1)[0][0]
        provider = index.endpoints[index.position[best]].provider
        of_provider = frozenset(one.endpoint_id for one in index.endpoints if one.provider == provider)
        return {BEST: frozenset((best,)), ITS_PROVIDER: of_provider, NOBODY: frozenset[str]()}[self.who]


OUTAGE = Scenario(
    name="outage", about="answers 503 at once", behaviour=Behaviour(errors=1.0), rate=50, fault=120, after=150
)
QUIET = Scenario(name="quiet", about="nothing is wrong", behaviour=Behaviour(), who=NOBODY)
SCENARIOS = (
    OUTAGE,
    Scenario(name="hang", about="accepts and never answers", behaviour=Behaviour(hangs=True)),
    Scenario(name="brown-out", about="takes eight times as long to the first token", behaviour=Behaviour(slower=8.0)),
    Scenario(name="errors", about="answers 503 to 30 % of attempts", behaviour=Behaviour(errors=0.3)),
    Scenario(
        name="rate limit",
        about="answers 429 with `Retry-After: 5` above 5 attempts a second",
        behaviour=Behaviour(per_second=5, retry_after_ms=5000),
    ),
    Scenario(name="invalid", about="gives answers of which 80 % fail acceptance", behaviour=Behaviour(invalid=0.8)),
    Scenario(name="provider", about="refuse connections", behaviour=Behaviour(refuses=True), who=ITS_PROVIDER),
    Scenario(
        name="flapping",
        about="answers 503 at once for 10 s and is well for 10 s, in turns",
        behaviour=Behaviour(errors=1.0),
        swing=10,
    ),
    QUIET,
)
