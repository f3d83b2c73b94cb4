"""Several instances over one store, whose answers come in any order and may be lost on the way."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

from router_service.domain.thresholds import Thresholds
from router_service.health.shared import SharedHealth
from router_service.store.interface import State, StoreLost, Swapped
from tests.health.events import DEFAULTS, NOW, seen
from tests.memory_store import MemoryStore


@dataclass(slots=True)
class Slow(MemoryStore):
    """One whose answers come in any order; of calls that are lost, some were taken all the same."""

    rng: random.Random = field(default_factory=lambda: random.Random(0))
    losses: float = 0.0

    async def states(self, since: int) -> tuple[State, ...]:
        await self._pass()
        answer = await MemoryStore.states(self, since)
        await self._pass()
        return answer

    async def swap(self, changes: Any) -> tuple[Swapped, ...]:
        await self._pass()
        answer = await MemoryStore.swap(self, changes)
        await self._pass()
        return answer

    async def _pass(self) -> None:
        for _ in range(self.rng.choice([0, 0, 1, 3, 9])):
            await asyncio.sleep(0)
        if self.rng.random() < self.losses:
            raise StoreLost("on the way")


def instances(store: MemoryStore, count: int, thresholds: Thresholds = DEFAULTS) -> list[SharedHealth]:
    made = [SharedHealth(store) for _ in range(count)]
    for one in made:
        one.board.thresholds = thresholds
    return made


async def agree(*all_of_them: SharedHealth) -> None:
    """All push and pull until nobody has anything to tell."""
    for one in all_of_them:
        await one.push()
    for one in all_of_them:
        await one.pull()
        assert one.board.unshared(9) == []


def fail(one: SharedHealth, endpoint_id: str = "a@x", now: int = NOW, times: int = 5) -> None:
    for _ in range(times):
        one.board.observe(endpoint_id, seen("failure", now), now)
