"""Where time, sleep and chance come from, so that a run can be tested without waiting."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Time and chance.

    Attributes:
        clock: seconds of a clock that is never set back.
        now: the time of day, with its zone.
        random: a number from 0 to 1, 1 excluded.
    """

    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = _now
    random: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime(Clocks):
    """For threads; `sleep` takes seconds."""

    sleep: Callable[[float], object] = time.sleep


@dataclass(frozen=True, slots=True, kw_only=True)
class AsyncRuntime(Clocks):
    """For asyncio; `sleep` takes seconds."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
