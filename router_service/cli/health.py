"""`router-service health`: an exit code for probes."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import click

from router_service.cli.connecting import credentials_flags
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
from router_service.wire.credentials import Credentials

_SECURED = ("tls:", "mtls:")
_SAID = (*_SECURED, "plain:", "unix:")


def _own_server() -> str:
    """Where a server of the same environment listens, as in a container's health check; in plain if it can be."""
    unsaid = "tls:" if os.environ.get("ROUTER_SERVICE_TLS_CERT") else ""
    listed = os.environ.get("ROUTER_SERVICE_LISTEN", "").split() or [DEFAULT_SERVER]
    addresses = [one if one.startswith(_SAID) else unsaid + one for one in listed]
    return next((one for one in addresses if not one.startswith(_SECURED)), addresses[0])


@click.command()
@flag(
    "--server",
    metavar="HOST:PORT",
    default=_own_server,
    help=f"The server (or unix:/path).  [default: the first plain one of ROUTER_SERVICE_LISTEN, or {DEFAULT_SERVER}]",
)
@flag("--service", default="", help="A service by its full name, or catalog for the state of the catalogue's files.")
@TIMEOUT
@credentials_flags
def command(server: str, service: str, timeout: float, credentials: Credentials) -> None:
    """Ask a server whether it serves: exit code 0 if so, 1 if not, 2 for an unknown service, 3 if unreachable."""
    try:
        # Everybody may ask, so no token is shown.
        with Client(server, timeout, replace(credentials, token="")) as client:
            serving = client.is_serving(service)
    except Unreachable as error:
        raise ServerUnreachable(str(error)) from None
    except Rejected as error:
        raise UsageProblem(f"service {service!r}: {error}") from None
    click.echo("SERVING" if serving else "NOT_SERVING")
    sys.exit(DECIDED if serving else REFUSED)
