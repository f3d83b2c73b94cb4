"""Health states: all in one slot, so that a change is made where nobody else was quicker, and none is missed."""

from __future__ import annotations

from collections.abc import Sequence

from router_service.store.interface import State, Swapped
from router_service.store.redis.keys import Keys
from router_service.store.redis.lane import Lane
from router_service.store.redis.money import SPENDING_MS
from router_service.store.redis.scripts import STATES, SWAP
from router_service.store.states import least_version


class States:
    """What instances know together of endpoints."""

    def __init__(self, lane: Lane, keys: Keys) -> None:
        self._lane, self._keys = lane, keys

    async def page(self, since: int, limit: int) -> list[State]:
        """The first states of a version greater than `since`."""
        [found] = await self._lane.ask(STATES(self._keys.health, since, limit))
        return [State(key.decode(), int(version), body) for key, version, body in found]

    async def swap(self, changes: Sequence[State]) -> list[Swapped]:
        """Makes some changes in one step of the server."""
        parts = [part for one in changes for part in (one.key, one.version, one.body)]
        [answers] = await self._lane.ask(SWAP(self._keys.health, SPENDING_MS, least_version(), *parts))
        return [
            Swapped(bool(made), State(one.key, int(version), body[0] if body else one.body))
            for one, (made, version, *body) in zip(changes, answers, strict=True)
        ]

    async def lengthen(self) -> None:
        """Lets all live on: what was set by hand holds however long nothing changes."""
        await self._lane.ask(*(("PEXPIRE", key, SPENDING_MS, "GT") for key in self._keys.health))
