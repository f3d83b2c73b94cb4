"""Long work of the event loop's own process, done in slices with other work between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from typing import Any, TypeVar

# How long slices run before others get their turn. A call has some four turns of the loop, and may meet one in each.
SLICE_S = 0.00025
BACKGROUND_SLICE_S, PAUSE_S = 0.001, 0.002  # of work that nobody waits for, and how long it then leaves to others
_Made = TypeVar("_Made")


def let_go(pieces: list[Any]) -> Generator[None, None, None]:
    """Drops objects one by one, the last first: where they die with it, thousands at once would hold up the loop."""
    while pieces:
        pieces.pop()
        yield


async def unhurried(slices: Generator[None, None, _Made], pause_s: float | None = None) -> _Made:
    """What `slices` returns; between them, other work of the loop has its turn.

    `pause_s` is for how long at least; None is for work that nobody waits for.
    """
    slice_s, pause_s = (BACKGROUND_SLICE_S, PAUSE_S) if pause_s is None else (SLICE_S, pause_s)
    turn_ends = time.perf_counter() + slice_s
    while True:
        try:
            next(slices)
        except StopIteration as made:
            value: _Made = made.value
            return value
        if time.perf_counter() >= turn_ends:
            await asyncio.sleep(pause_s)
            turn_ends = time.perf_counter() + slice_s
