"""Ports that several workers listen on: claimed by their supervisor, so that no other server comes in between.

SO_REUSEPORT lets any process of the same user listen on a port where another does. So the supervisor binds the port
first, as if it were to be its own alone, and only then lets its workers in.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import ExitStack


class Taken(OSError):
    """An address cannot be had; says which, and why."""


class Claims:
    """The ports that a supervisor holds, without listening on them, until it is closed."""

    def __init__(self) -> None:
        self._held = ExitStack()

    def claim(self, text: str, hosts: Sequence[str], port: int) -> int:
        """Claims a port on each of the numeric addresses of a host; 0 lets the system choose. Raises Taken."""
        for host in hosts:
            try:
                port = self._claim(host, port)
            except OSError as error:
                raise Taken(f"{text}: cannot listen there ({error.strerror}); is the port in use?") from error
        return port

    def close(self) -> None:
        """Lets go of all."""
        self._held.close()

    def _claim(self, host: str, port: int) -> int:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        held = self._held.enter_context(socket.socket(family, socket.SOCK_STREAM))
        # Connections that wait out their end on the port are no reason to refuse it.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((host, port))
        chosen: int = held.getsockname()[1]
        # Two that begin in the same moment both get this far, since neither listens yet; one of them gets this name.
        name = self._held.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        name.bind(f"\0router-service/{host}/{chosen}")
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        return chosen
