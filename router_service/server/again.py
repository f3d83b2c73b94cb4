"""What failed is tried again by itself, after pauses that grow: nobody may come to try it by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

FIRST_S, LONGEST_S = 1.0, 60.0


def growing_s(failures: int, first_s: float, longest_s: float) -> float:
    """How long to wait after so many failures in a row: twice as long each time, up to the longest."""
    if failures <= 0:
        return 0.0
    # Not beyond what a float holds, however long it goes on.
    return min(longest_s, first_s * 2.0 ** min(failures - 1, 60))


class Again:
    """Calls `wake` some time after each failure, unless something else tried meanwhile. For one event loop."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake, self._failures = wake, 0
        self._timer: asyncio.TimerHandle | None = None

    def failed(self) -> float:
        """Has it tried again; in how many seconds."""
        self._cancel()
        self._failures += 1
        pause_s = growing_s(self._failures, FIRST_S, LONGEST_S)
        self._timer = asyncio.get_running_loop().call_later(pause_s, self._wake)
        return pause_s

    def over(self) -> None:
        """It went well, or nobody need try it any more."""
        self._cancel()
        self._failures = 0

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
