"""A server's signals while it has no loop that takes them: during its imports, and after its end."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from router_service.server import signals

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

_installed = False


def ends_at_once() -> None:
    """SIGTERM and SIGINT end this process with exit code 0 from now on, and SIGHUP does nothing, until a loop does."""
    global _installed  # noqa: PLW0603 - signals are the whole process's
    _installed = True
    for number in signals.ENDING:
        signal.signal(number, _leave)
    # All files are still to be read.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def ends_at_once_again(loop: AbstractEventLoop) -> None:
    """The same once the loop has done its work, in a process that began so."""
    if _installed:
        signals.let_go(loop)
        ends_at_once()


def is_over() -> None:
    """Nothing is left to be ended, in a process that began so."""
    if _installed:
        signals.ignore()


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    # Nothing is open yet, or any more; an exception could be swallowed in the middle of an import.
    os._exit(0)
