"""The trivial answer to Envoy's external authorisation: the floor of floor.py, which allows whatever is asked.

`python -m benchmarks.envoy_floor FILE` answers every Check with the bytes of a file, unread.
"""

from __future__ import annotations

import sys
from pathlib import Path

import uvloop

from benchmarks.floor import UNARY, Floor, run

CHECK = "/envoy.service.auth.v3.Authorization/Check"


class AlwaysAllow(Floor):
    """The floor under the name of Envoy's service."""

    def __init__(self, answer: bytes) -> None:
        super().__init__(answer)
        self._handlers[CHECK] = self._handlers[UNARY]


if __name__ == "__main__":
    uvloop.run(run(AlwaysAllow(Path(sys.argv[1]).read_bytes())))
