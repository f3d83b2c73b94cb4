"""What both stores do alike with health states: the least next version, and many states in steps."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from router_service.store.interface import State, Swapped

# States read, and changes made, at once: a millisecond or two that others may have to wait.
STATES_STEP = 512
SWAP_STEP = 128

# A wrong clock must not bring versions where a double, which sorts them in Redis, knows whole numbers no more (2⁵³).
_CLOCK_MAX = 2**52


def least_version() -> int:
    """What the next version is at least: the clock in µs, so that a store that lost what it had goes on above it."""
    return min(time.time_ns() // 1000, _CLOCK_MAX)


async def all_since(page: Callable[[int, int], Awaitable[Sequence[State]]], since: int) -> tuple[State, ...]:
    """All pages of (since, limit) together. What changes between two pages comes in the later one, and only there."""
    found: dict[str, State] = {}
    while True:
        states = await page(since, STATES_STEP)
        for one in states:
            found.pop(one.key, None)
            found[one.key] = one
        if len(states) < STATES_STEP:
            return tuple(found.values())
        since = states[-1].version


async def swap_all(
    step: Callable[[Sequence[State]], Awaitable[Sequence[Swapped]]], changes: Sequence[State]
) -> tuple[Swapped, ...]:
    """The answers of all steps, one after the other."""
    answers: list[Swapped] = []
    for begin in range(0, len(changes), SWAP_STEP):
        answers += await step(changes[begin : begin + SWAP_STEP])
    return tuple(answers)
