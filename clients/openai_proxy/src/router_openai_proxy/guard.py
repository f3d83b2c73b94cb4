"""Bounds the time of work that a client's own schema decides on: a pattern can be made to run for years."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SECONDS = 0.5
"""Of the processor's time: a machine that is busy with other things makes nothing too costly."""


class TooCostly(Exception):
    """The work was given up."""


@contextmanager
def bounded(seconds: float = SECONDS) -> Iterator[None]:
    """Raises TooCostly out of what takes longer; regular expressions are interrupted too. Only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    guarded = True

    def end(_number: int, _frame: FrameType | None) -> None:
        if guarded:
            raise TooCostly

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        guarded = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
