"""The seat of a worker: what its supervisor tells it through the environment, beside the flags that both have."""

from __future__ import annotations

import os
import socket

import msgspec

VARIABLE = "_ROUTER_SERVICE_SEAT"
PLACEHOLDER = "{worker}"
"""What stands in the path of a Unix socket for the number of the worker that listens there."""


class Seat(msgspec.Struct, frozen=True):
    """Which worker this is, the descriptor of its link, and where it listens, with ports that were found free."""

    number: int
    link: int
    listen: tuple[str, ...]
    health: str | None = None

    def environment(self) -> dict[str, str]:
        """This process's own, with the seat."""
        return {**os.environ, VARIABLE: msgspec.json.encode(self).decode()}

    def take_link(self) -> socket.socket:
        """This worker's end of the link; to be taken once."""
        end = socket.socket(fileno=self.link)
        end.set_inheritable(False)
        return end


def taken_seat() -> Seat | None:
    """The seat of this process; None where it is no worker. What it starts itself has none."""
    raw = os.environ.pop(VARIABLE, "")
    return msgspec.json.decode(raw, type=Seat) if raw else None
