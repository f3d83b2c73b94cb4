"""SharedHealth: one instance's board, and the way by which all instances of a store come to the same one.

Every state is written only over the one that it was made of; where another instance was quicker, this one's events go
over what that wrote, and it is tried again. So a place at a half-open endpoint is had by one decision of all. A store
that is lost leaves each instance with what it knows (docs/reliability.md, Shared health).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping

from router_service.domain.decision import Decision, Refusal
from router_service.domain.report import OutcomeReport
from router_service.engine.held import Held
from router_service.engine.index import Index
from router_service.health.board import Board
from router_service.health.learning import observations
from router_service.store.interface import Store, StoreLost

_TRIES = 8
_AT_ONCE = 256  # endpoints written in one go; encoding one takes some µs of the loop's time
_MERGED_AT_ONCE = 32


class SharedHealth:
    """The health of all endpoints. Without a store it is this instance's alone."""

    def __init__(self, store: Store | None = None) -> None:
        self.board = Board("" if store is None else secrets.token_hex(4))
        self._store = store
        self._since = 0
        self._pushing = asyncio.Lock()

    @property
    def is_shared(self) -> bool:
        """Whether there is a store that keeps it."""
        return self._store is not None

    @property
    def is_quiet(self) -> bool:
        """Whether no endpoint is kept out, nor needs a place."""
        return self.board.is_quiet

    @property
    def is_urgent(self) -> bool:
        """Whether a status was set by hand since this was asked last."""
        urgent, self.board.urgent = self.board.urgent, False
        return urgent

    def held(self, index: Index, now: int) -> Held:
        """The endpoints that no decision may list now, beside those of which the index says so itself."""
        return self.board.held(index, now)

    def all_held(self, index: Index, but: Collection[str], now: int) -> Held:
        """The same with every endpoint that only a place lets in, those of `but` aside, at which it has one."""
        return self.board.all_held(index, but, now)

    def probed(self, result: Decision | Refusal, now: int) -> list[str]:
        """The candidates that a decision may list only with a place."""
        return self.board.probed(result, now)

    def take(self, endpoint_ids: Collection[str], trace_id: str, now: int) -> set[str] | Awaitable[set[str]]:
        """Takes places for a decision; those that it got. To be awaited where others may be quicker."""
        got = {one for one in endpoint_ids if self.board.take(one, trace_id, now)}
        return self._agreed(got, trace_id, now) if got and self._store is not None else got

    async def _agreed(self, endpoint_ids: set[str], trace_id: str, now: int) -> set[str]:
        try:
            await self.push(endpoint_ids)
        except StoreLost:  # each instance for itself, until it is back
            return {one for one in endpoint_ids if self.board.holds(one, trace_id)}
        agreed = {one for one in endpoint_ids if self.board.agreed(one, trace_id)}
        self.board.leave(trace_id, agreed, now)
        return agreed

    def leave(self, trace_id: str, now: int, but: Collection[str] = ()) -> None:
        """Frees the places of a decision, those aside that its report or its list has a use for."""
        self.board.leave(trace_id, but, now)

    def learn(
        self,
        report: OutcomeReport,
        new: Collection[str],
        *,
        decided_at: int,
        now: int,
        index: Index | None,
        needs: Callable[[], Mapping[str, int]],
    ) -> None:
        """What a report says of the endpoints that were tried (see observations); it frees its decision's places."""
        seen = observations(
            report, new, decided_at=decided_at, now=now, thresholds=self.board.thresholds, index=index, needs=needs
        )
        for endpoint_id, observation in seen:
            self.board.observe(endpoint_id, observation, now)
        self.board.leave(report.trace_id, (), now)

    async def set_by_hand(self, endpoint_id: str, status: str, reason: str, now: int) -> bool:
        """Sets a status, or gives it back to the catalogue where it is empty; whether a store keeps it.

        Raises StoreLost; then this instance obeys it, and it is written as soon as the store is back.
        """
        self.board.set_by_hand(endpoint_id, status, reason, now)
        if self._store is None:
            return False
        await self.push({endpoint_id})
        return not self.board.unshared(1, {endpoint_id})

    def again(self, now: int) -> None:
        """Has what keeps endpoints out written anew with the next push."""
        self.board.again(now)

    async def pull(self) -> None:
        """Learns what others wrote. Raises StoreLost."""
        if self._store is None:
            return
        for number, state in enumerate(await self._store.states(self._since), start=1):
            self.board.merge(state)
            self._since = max(self._since, state.version)
            if number % _MERGED_AT_ONCE == 0:
                await asyncio.sleep(0)

    async def push(self, only: Collection[str] | None = None) -> None:
        """Writes what this instance has learned, of all endpoints or of some. Raises StoreLost."""
        if self._store is None:
            return
        async with self._pushing:
            for _ in range(_TRIES):
                changes = self.board.unshared(_AT_ONCE, only)
                if not changes:
                    return
                for change, answer in zip(changes, await self._store.swap(changes), strict=True):
                    if answer.state.version < change.version:
                        self.board.fell_back(answer.state)
                    else:
                        self.board.merge(answer.state)
