"""`router-service envoy`: prints the Envoy configuration for a catalogue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from router_service.catalog.load import CatalogInvalid, load
from router_service.catalog.snapshot import Snapshot
from router_service.cli.envoy_choices import choices_of
from router_service.cli.options import Seconds, UsageProblem, example_catalog
from router_service.domain.problems import InvalidValue, Problem
from router_service.edge import choices as defaults
from router_service.edge.envoy import written
from router_service.edge.upstreams import upstreams_of
from router_service.server.app import wall_clock

_PLACE = "HOST:PORT"
_LONGEST_S = 86_400.0
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _flag(name: str, *other: str, **attributes: Any) -> Callable[[_Command], _Command]:
    """A click option whose environment variable is ROUTER_SERVICE_ENVOY_ and its name.

    ROUTER_SERVICE_LISTEN and others are those of `serve`, which may stand in the same environment.
    """
    own = name.partition("/")[0].removeprefix("--").removeprefix("envoy-")
    variable = "ROUTER_SERVICE_ENVOY_" + own.upper().replace("-", "_")
    return click.option(name, *other, envvar=variable, show_envvar=True, **attributes)


@click.command()
@click.argument("catalog", type=click.Path(path_type=Path, exists=True), required=False)
@_flag(
    "--listen",
    metavar=_PLACE,
    default="127.0.0.1:10000",
    show_default=True,
    help="Where clients reach Envoy (or unix:/path).",
)
@_flag(
    "--service",
    metavar=_PLACE,
    default="127.0.0.1:50051",
    show_default=True,
    help="Where Envoy reaches the service (or unix:/path).",
)
@_flag(
    "--policy",
    "policies",
    multiple=True,
    metavar="ID",
    help="A policy that clients may name, the first one the route's own; may be given several times."
    "  [default: the catalogue's default policy, and none to name]",
)
@_flag(
    "--workload",
    "workloads",
    multiple=True,
    metavar="NAME[@VERSION]",
    help="A workload that clients may name; may be given several times.",
)
@_flag(
    "--credentials",
    metavar="FOLDER",
    default=defaults.CREDENTIALS,
    show_default=True,
    help="Where Envoy finds the credentials, a file for each host.",
)
@_flag(
    "--open",
    "open_hosts",
    multiple=True,
    metavar="HOST[_PORT]",
    help="A host that takes no credential; may be given several times.",
)
@_flag(
    "--credential-header",
    "credential_headers",
    multiple=True,
    metavar="HOST=HEADER",
    help="Hosts, * allowed, whose credential goes into another header than authorization."
    "  [default: *.openai.azure.com=api-key]",
)
@_flag(
    "--ca", metavar="FILE", default=defaults.CA, show_default=True, help="The CAs of providers' certificates, in PEM."
)
@_flag("--tls-cert", metavar="FILE", help="Envoy's own certificate chain, in PEM; its listener then speaks TLS.")
@_flag("--tls-key", metavar="FILE", help="Its key, in PEM.")
@_flag("--insecure", is_flag=True, help="Allow plain HTTP to clients beyond loopback, and plain gRPC to the service.")
@_flag("--service-ca", metavar="FILE", help="The CAs of the service's certificate, in PEM; Envoy then asks it by TLS.")
@_flag("--service-cert", metavar="FILE", help="Envoy's certificate as a caller of the service, in PEM.")
@_flag("--service-key", metavar="FILE", help="Its key, in PEM.")
@_flag("--envoy-admin", metavar=_PLACE, help="Where Envoy's admin page listens.  [default: nowhere]")
@_flag(
    "--decision-timeout",
    type=Seconds(min=0.001, max=_LONGEST_S),
    default=defaults.DECISION_S,
    show_default=True,
    help="Seconds that a request waits for its decision; then it is 503.",
)
@_flag(
    "--attempt-timeout",
    type=Seconds(min=0.001, max=_LONGEST_S),
    default=defaults.ATTEMPT_S,
    show_default=True,
    help="Seconds to the first byte of an attempt, where a decision has no deadline.",
)
@_flag(
    "--body-limit",
    type=click.IntRange(min=1024, max=2**30),
    default=defaults.BODY_BYTES,
    show_default=True,
    help="The greatest body of a request, in bytes.",
)
@_flag(
    "--replay/--no-replay",
    default=True,
    show_default=True,
    help="Whether the next endpoint is tried after an attempt that was sent and lost.",
)
@_flag(
    "--access-log",
    metavar="FILE",
    default="/dev/stdout",
    show_default=True,
    help="Where Envoy writes a line for each request.",
)
@_flag("--partial", is_flag=True, help="Leave out endpoints without an address, and tell which.")
def command(catalog: Path | None, **options: Any) -> None:
    """Print the Envoy configuration for CATALOG: a YAML file or a folder of them, or else the bundled example."""
    found: list[Problem] = []
    chosen = choices_of(options, found)
    now = wall_clock()
    try:
        snapshot = Snapshot.of(load(catalog or example_catalog()), now)
        upstreams = upstreams_of(snapshot, chosen, now)
    except (CatalogInvalid, InvalidValue) as invalid:
        raise UsageProblem("\n".join(map(str, [*found, *invalid.problems]))) from None
    if found:
        raise UsageProblem("\n".join(map(str, found)))
    for endpoint_id in upstreams.left_out:
        click.echo(f"left out, since it has no address: {endpoint_id}", err=True)
    click.echo(written(upstreams, chosen, snapshot.version), nl=False)
