"""The end of a server: health tells first, then calls are refused, those under way finish, and the stores are written.

A caller that follows health has gone elsewhere before its calls would be refused (docs/operating.md, Ending).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import grpc

from router_service.server.rpc import Calls

DELAY_S, GRACE_S = 1.0, 10.0
"""How long calls are answered as before, and how long those under way then have, where nothing else is said."""
FLUSH_S, HURRIED_FLUSH_S = 20.0, 2.0
"""How long the stores have to take what is pending, and once a second signal has come."""
_LAST_WORDS_S = 0.2  # for answers that are written but not sent yet
# Who is refused may come back at once; and calls that come while gRPC stops are cancelled, which few callers try again.
_QUIET_S, _UNQUIET_S = 0.1, 1.0


class Ending:
    """When a server is to end: from a first signal on gently, from a second one on at once."""

    def __init__(self) -> None:
        self.begun, self.at_once = asyncio.Event(), asyncio.Event()

    def signal(self) -> None:
        """One has come."""
        (self.at_once if self.begun.is_set() else self.begun).set()


@dataclass(frozen=True, slots=True)
class Drain:
    """How the calls of a server end: `delay_s` and `grace_s` in seconds."""

    delay_s: float
    grace_s: float

    async def run(self, server: grpc.aio.Server, calls: Calls, at_once: asyncio.Event, log: Any) -> None:
        """Ends them all; `delay_s` is over when the first is refused."""
        log.info("draining", delay_s=self.delay_s, grace_s=self.grace_s, calls=calls.count)
        await within(self.delay_s, at_once, asyncio.sleep(self.delay_s))
        calls.drain()
        if not await within(self.grace_s, at_once, _ended(calls)) and calls.count:
            log.warning("calls under way were broken off", calls=calls.count)
        calls.break_off()
        await server.stop(_LAST_WORDS_S)


async def _ended(calls: Calls) -> None:
    """Waits for calls under way, and then for a moment in which none has to be refused."""
    await calls.idle()
    most = time.perf_counter() + _UNQUIET_S
    while (left := min(most, calls.refused_at + _QUIET_S) - time.perf_counter()) > 0:  # noqa: ASYNC110 - it moves
        await asyncio.sleep(left)


async def flushed(work: Awaitable[None], at_once: asyncio.Event, log: Any, lost: Callable[[], int]) -> None:
    """Waits until the stores have taken what is pending, as long as there is time for it.

    `lost` gives up what was not written by then, and tells how many traces that are.
    """
    flush = asyncio.ensure_future(work)
    if not await within(FLUSH_S, at_once, asyncio.shield(flush)) and at_once.is_set():
        await asyncio.wait((flush,), timeout=HURRIED_FLUSH_S)
    in_time = flush.done()
    if not in_time:
        flush.cancel()
        await asyncio.gather(flush, return_exceptions=True)
    count = lost()
    if count or not in_time:
        log.error("the store did not take in time what was pending", lost=count)
    if in_time:
        flush.result()


async def within(seconds: float, at_once: asyncio.Event, work: Awaitable[Any]) -> bool:
    """Waits for something so many seconds at most, or until all must end at once; whether it came to its end."""
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(at_once.wait())]
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return tasks[0] in done
