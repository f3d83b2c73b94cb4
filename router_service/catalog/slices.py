"""Long work of the event loop's own process, done in slices with other work between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from typing import Any, TypeVar

SLICE_S = 0.001  # how long slices run before others get their turn
PAUSE_S = 0.002  # how long that is for work that nobody waits for
_Made = TypeVar("_Made")


def let_go(pieces: list[Any]) -> Generator[None, None, None]:
    """Drops objects one by one, the last first: where they die with it, thousands at once would hold up the loop."""
    while pieces:
        pieces.pop()
        yield


async def unhurried(slices: Generator[None, None, _Made], pause_s: float = PAUSE_S) -> _Made:
    """What `slices` returns; between them, other work of the loop has its turn."""
    turn_ends = time.perf_counter() + SLICE_S
    while True:
        try:
            next(slices)
        except StopIteration as made:
            value: _Made = made.value
            return value
        if time.perf_counter() >= turn_ends:
            await asyncio.sleep(pause_s)
            turn_ends = time.perf_counter() + SLICE_S
