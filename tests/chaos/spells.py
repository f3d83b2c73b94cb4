"""Spells: when something was not well, by the monotonic clock of the one who did it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Spells:
    """Stretches of time; one that goes on has no end yet."""

    def __init__(self) -> None:
        self._spells: list[tuple[float, float]] = []

    @contextmanager
    def one(self) -> Iterator[None]:
        """A stretch from here to the end of the block."""
        begun = time.monotonic()
        self._spells.append((begun, math.inf))
        try:
            yield
        finally:
            self._spells[self._spells.index((begun, math.inf))] = (begun, time.monotonic())

    def moment(self) -> None:
        """A stretch of no length."""
        now = time.monotonic()
        self._spells.append((now, now))

    def touch(self, begin: float, end: float) -> bool:
        """Whether any part of one lies between."""
        return any(begun <= end and ended >= begin for begun, ended in self._spells)

    def lasts_since(self) -> float | None:
        """Since when one goes on; None where none does."""
        return min((begun for begun, ended in self._spells if ended == math.inf), default=None)
