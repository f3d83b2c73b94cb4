"""The signals on which a server ends gently, and how it is rid of them once it has ended."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # every verb of the command line imports this first
    from asyncio import AbstractEventLoop

ENDING = (signal.SIGTERM, signal.SIGINT)


def let_go(loop: AbstractEventLoop) -> None:
    """The loop takes none of a server's signals any more: closing, it would leave them deadly."""
    for number in (*ENDING, signal.SIGHUP):
        loop.remove_signal_handler(number)


def ignore() -> None:
    """Nothing is left that could be ended but the interpreter, which makes what has a handler deadly too."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
