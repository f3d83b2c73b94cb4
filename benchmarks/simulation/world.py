"""World: what backends do, each by its own speed and by its script. The router learns of it by reports alone."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from benchmarks.simulation.load import NOON, Operation, catalogue
from router_service.engine.time_budget import DEFAULT_LATENCY_MS

FIRST_TOKEN_SIGMA, SPEED_SIGMA = 0.35, 0.1  # of lognormal draws around the catalogue's medians
_SPEED = 80.0  # tokens a second where the catalogue says nothing
_ERRORS = 0.005  # share of failures where it says nothing
_ROUND_TRIP_MS = (20, 60)  # until a backend that does no work has said so


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What an endpoint does: shares are of its attempts, times in ms.

    `slower` multiplies the time to the first token. Above `per_second` attempts in one second it answers 429.
    """

    refuses: bool = False
    hangs: bool = False
    errors: float = 0.0
    invalid: float = 0.0
    slower: float = 1.0
    per_second: int | None = None
    retry_after_ms: int | None = None


WELL = Behaviour()


@dataclass(frozen=True, slots=True)
class Phase:
    """From when until when (ms of virtual time) some endpoints behave otherwise."""

    since: int
    until: int
    behaviour: Behaviour


@dataclass(frozen=True, slots=True)
class Reply:
    """What comes of an attempt if its caller waits for it: after how many ms, None is never.

    `status` is None where no connection came about. An answer's `speed` is in tokens a second.
    """

    after_ms: int | None
    status: int | None = None
    valid: bool = False
    first_token_ms: int = 0
    speed: float = 0.0
    retry_after_ms: int | None = None

    def tokens_by(self, ms: int) -> int:
        """How many tokens of an answer have come after so long."""
        return max(0, int((ms - self.first_token_ms) * self.speed / 1000))


class World:
    """The endpoints of the catalogue, those of `faulty` with phases."""

    def __init__(self, seed: int, faulty: Iterable[str], phases: Iterable[Phase]) -> None:
        self._seed, self._faulty, self._phases = seed, frozenset(faulty), tuple(phases)
        index = catalogue().index
        self._endpoints = {one: index.endpoints[position] for one, position in index.position.items()}
        self._counted: dict[str, tuple[int, int]] = {}  # (second, attempts in it) where there is a limit

    def reply(self, endpoint_id: str, operation: Operation, attempt: int, now: int) -> Reply:
        """What an attempt begun now comes to. The draws are the same whatever was drawn before."""
        rng = random.Random((self._seed << 48) + (operation.number << 8) + attempt)
        one, does = self._endpoints[endpoint_id], self._behaviour(endpoint_id, now)
        round_trip = rng.randint(*_ROUND_TRIP_MS)
        if does.refuses:
            return Reply(round_trip)
        if does.hangs:
            return Reply(None)
        if does.per_second is not None and self._count(endpoint_id, now) > does.per_second:
            return Reply(round_trip, 429, retry_after_ms=does.retry_after_ms)
        if rng.random() < does.errors + (_ERRORS if one.error_rate is None else one.error_rate):
            return Reply(round_trip, 503)
        latency = DEFAULT_LATENCY_MS if one.latency_ms is None else one.latency_ms
        first = ceil(latency * does.slower * rng.lognormvariate(0, FIRST_TOKEN_SIGMA))
        speed = float(one.tokens_per_second or _SPEED) * rng.lognormvariate(0, SPEED_SIGMA)
        return Reply(
            after_ms=first + ceil(1000 * operation.output_tokens / speed),
            status=200,
            valid=rng.random() >= does.invalid,
            first_token_ms=first,
            speed=speed,
        )

    def cost(self, endpoint_id: str, input_tokens: int, output_tokens: int) -> int:
        """What tokens cost there, in 10⁻¹² of the currency."""
        one = self._endpoints[endpoint_id]
        return input_tokens * (one.input_price or 0) + output_tokens * (one.output_price or 0)

    def _behaviour(self, endpoint_id: str, now: int) -> Behaviour:
        if endpoint_id not in self._faulty:
            return WELL
        at = now - NOON
        return next((one.behaviour for one in self._phases if one.since <= at < one.until), WELL)

    def _count(self, endpoint_id: str, now: int) -> int:
        second, before = self._counted.get(endpoint_id, (0, 0))
        count = before + 1 if second == now // 1000 else 1
        self._counted[endpoint_id] = (now // 1000, count)
        return count
