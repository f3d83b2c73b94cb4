"""Events: virtual time, and what happens on it in its order. A process is a generator that yields how long it waits."""

from __future__ import annotations

import heapq
from collections.abc import Generator

Process = Generator[int, None, None]
"""Yields times to wait, in ms."""


class Events:
    """Runs processes one after the other, by when each goes on; of two at the same instant, who asked first."""

    def __init__(self, now: int) -> None:
        self.now = now
        """The instant, in ms."""
        self._heap: list[tuple[int, int, Process]] = []
        self._asked = 0

    def start(self, process: Process, in_ms: int = 0) -> None:
        """Lets a process begin, so long from now."""
        if in_ms < 0:
            raise ValueError(f"{in_ms} ms is in the past")
        self._asked += 1
        heapq.heappush(self._heap, (self.now + in_ms, self._asked, process))

    def run(self, until: int) -> None:
        """Goes on until the instant `until`; what would come later stays where it is."""
        while self._heap and self._heap[0][0] <= until:
            self.now, _, process = heapq.heappop(self._heap)
            waits = next(process, None)
            if waits is not None:
                self.start(process, waits)
        self.now = until
