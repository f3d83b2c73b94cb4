"""A real server, started as a person starts it, for the tests of clients in any language."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS_TO_START = 30


class NotStarted(RuntimeError):
    """The server did not say where it listens; the text is what it did say."""


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """A server with the example catalogue and these arguments; what stands after `listening on` in what it says."""
    if "--store" not in arguments:
        arguments = ("--store", "none", *arguments)
    command = [sys.executable, "-m", "router_service.cli", "serve", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ROUTER_SERVICE_")}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    said = b""
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until and select.select([process.stderr], [], [], until - time.monotonic())[0]:
        piece = os.read(process.stderr.fileno(), 65536)
        said += piece
        if found := re.search(rb"listening on (\S+)[ \n]", said):
            return found[1].decode()
        if not piece:
            break
    raise NotStarted(f"the server did not start; it said: {said.decode(errors='replace')}")
