"""`router-service health`: an exit code for probes."""

from __future__ import annotations

import os
import sys

import click

from router_service.cli.options import (
    DECIDED,
    DEFAULT_SERVER,
    REFUSED,
    TIMEOUT,
    ServerUnreachable,
    UsageProblem,
    flag,
)
from router_service.wire.client import Client, Rejected, Unreachable


def _own_server() -> str:
    """Where a server of the same environment listens, as in a container's health check."""
    return (os.environ.get("ROUTER_SERVICE_LISTEN", "").split() or [DEFAULT_SERVER])[0]


@click.command()
@flag(
    "--server",
    metavar="HOST:PORT",
    default=_own_server,
    help=f"The server (or unix:/path).  [default: the first of ROUTER_SERVICE_LISTEN, or {DEFAULT_SERVER}]",
)
@flag("--service", default="", help="A service by its full name, or catalog for the state of the catalogue's files.")
@TIMEOUT
def command(server: str, service: str, timeout: float) -> None:
    """Ask a server whether it serves: exit code 0 if so, 1 if not, 2 for an unknown service, 3 if unreachable."""
    try:
        with Client(server, timeout) as client:
            serving = client.is_serving(service)
    except Unreachable as error:
        raise ServerUnreachable(str(error)) from None
    except Rejected as error:
        raise UsageProblem(f"service {service!r}: {error}") from None
    click.echo("SERVING" if serving else "NOT_SERVING")
    sys.exit(DECIDED if serving else REFUSED)
