"""`router-service envoy`: prints the Envoy configuration for a catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from router_service.catalog.load import CatalogInvalid, load
from router_service.catalog.snapshot import Snapshot
from router_service.cli.options import Seconds, UsageProblem, example_catalog, flag
from router_service.domain.problems import InvalidValue, Problem
from router_service.edge import choices as defaults
from router_service.edge.choices import Choices, Place, Tls
from router_service.edge.envoy import written
from router_service.edge.upstreams import upstreams_of
from router_service.server.app import wall_clock
from router_service.server.listen import PLAIN, TLS, Address, AddressError, parse_addresses

_PLACE = "HOST:PORT"
_NOWHERE = Place("", 0)  # in the place of one that was refused


@click.command()
@click.argument("catalog", type=click.Path(path_type=Path, exists=True), required=False)
@flag("--listen", metavar=_PLACE, default="127.0.0.1:10000", show_default=True, help="Where clients reach Envoy.")
@flag(
    "--service",
    metavar=_PLACE,
    default="127.0.0.1:50051",
    show_default=True,
    help="Where Envoy reaches the service (or unix:/path).",
)
@flag(
    "--policy",
    "policies",
    multiple=True,
    metavar="ID",
    help="A policy that clients may name, the first one the route's own; may be given several times."
    "  [default: the catalogue's default policy, and none to name]",
)
@flag(
    "--workload",
    "workloads",
    multiple=True,
    metavar="NAME[@VERSION]",
    help="A workload that clients may name; may be given several times.",
)
@flag(
    "--credentials",
    metavar="FOLDER",
    default=defaults.CREDENTIALS,
    show_default=True,
    help="Where Envoy finds the credentials, a file for each host.",
)
@flag(
    "--open",
    "open_hosts",
    multiple=True,
    metavar="HOST[_PORT]",
    help="A host that takes no credential; may be given several times.",
)
@flag(
    "--credential-header",
    "credential_headers",
    multiple=True,
    metavar="HOST=HEADER",
    help="Hosts, * allowed, whose credential goes into another header than authorization."
    "  [default: *.openai.azure.com=api-key]",
)
@flag(
    "--ca", metavar="FILE", default=defaults.CA, show_default=True, help="The CAs of providers' certificates, in PEM."
)
@flag("--tls-cert", metavar="FILE", help="Envoy's own certificate chain, in PEM; its listener then speaks TLS.")
@flag("--tls-key", metavar="FILE", help="Its key, in PEM.")
@flag("--insecure", is_flag=True, help="Allow plain HTTP to clients beyond loopback, and plain gRPC to the service.")
@flag("--service-ca", metavar="FILE", help="The CAs of the service's certificate, in PEM; Envoy then asks it by TLS.")
@flag("--service-cert", metavar="FILE", help="Envoy's certificate as a caller of the service, in PEM.")
@flag("--service-key", metavar="FILE", help="Its key, in PEM.")
@flag("--envoy-admin", metavar=_PLACE, help="Where Envoy's admin page listens.  [default: nowhere]")
@flag(
    "--decision-timeout",
    type=Seconds(min=0.001),
    default=defaults.DECISION_S,
    show_default=True,
    help="Seconds that a request waits for its decision; then it is 503.",
)
@flag(
    "--attempt-timeout",
    type=Seconds(min=0.001),
    default=defaults.ATTEMPT_S,
    show_default=True,
    help="Seconds to the first byte of an attempt, where a decision has no deadline.",
)
@flag(
    "--body-limit",
    type=click.IntRange(min=1024, max=2**30),
    default=defaults.BODY_BYTES,
    show_default=True,
    help="The greatest body of a request, in bytes.",
)
@flag(
    "--replay/--no-replay",
    default=True,
    show_default=True,
    help="Whether the next endpoint is tried after an attempt that was sent and lost.",
)
@flag(
    "--access-log",
    metavar="FILE",
    default="/dev/stdout",
    show_default=True,
    help="Where Envoy writes a line for each request.",
)
@flag("--partial", is_flag=True, help="Leave out endpoints without an address, and tell which.")
def command(catalog: Path | None, **options: Any) -> None:
    """Print the Envoy configuration for CATALOG: a YAML file or a folder of them, or else the bundled example."""
    found: list[str] = []
    chosen = _choices(options, found)
    now = wall_clock()
    try:
        snapshot = Snapshot.of(load(catalog or example_catalog()), now)
        upstreams = upstreams_of(snapshot, chosen, now)
    except (CatalogInvalid, InvalidValue) as invalid:
        raise UsageProblem("\n".join([*found, *map(str, invalid.problems)])) from None
    if found:
        raise UsageProblem("\n".join(found))
    for endpoint_id in upstreams.left_out:
        click.echo(f"left out, since it has no address: {endpoint_id}", err=True)
    click.echo(written(upstreams, chosen, snapshot.version), nl=False)


def _choices(options: dict[str, Any], found: list[str]) -> Choices:
    """What was chosen; what makes no sense is added to `found`, and its default holds meanwhile."""
    plain = {"insecure": options["insecure"]}
    tls = _pair("--tls", options["tls_cert"], options["tls_key"], "", found)
    service_ca = options["service_ca"]
    service_tls = _pair("--service", options["service_cert"], options["service_key"], service_ca or "", found)
    offers = {"offers": PLAIN if tls is None else TLS}
    service = _place("--service", options["service"], found, insecure=options["insecure"] or service_tls is not None)
    if service is not None and service_tls is not None and not service.is_name:
        found.append(
            str(Problem("--service", "a certificate is checked by a name", "write name:port, or no --service-ca"))
        )
    headers = {**defaults.CREDENTIAL_HEADERS, **dict(_pairs(options["credential_headers"], found))}
    return Choices(
        listen=_place("--listen", options["listen"], found, **plain, **offers) or _NOWHERE,
        service=service or _NOWHERE,
        admin=_place("--envoy-admin", options["envoy_admin"], found, **plain),
        tls=tls,
        service_tls=service_tls,
        ca=options["ca"],
        credentials=options["credentials"].rstrip("/"),
        open_hosts=frozenset(options["open_hosts"]),
        credential_headers=headers,
        policies=tuple(dict.fromkeys(options["policies"])),
        workloads=tuple(dict.fromkeys(options["workloads"])),
        attempt_s=options["attempt_timeout"],
        decision_s=options["decision_timeout"],
        body_bytes=options["body_limit"],
        replay=options["replay"],
        access_log=options["access_log"],
        partial=options["partial"],
    )


def _place(option: str, text: str | None, found: list[str], **how: Any) -> Place | None:
    if text is None:
        return None
    try:
        address: Address = parse_addresses((text,), **how)[0]
    except AddressError as error:
        found.append(f"{option}: {error}")
        return None
    return Place(address.host, address.port, "" if address.path is None else str(address.path))


def _pair(option: str, cert: str | None, key: str | None, ca: str, found: list[str]) -> Tls | None:
    """The files of one side's TLS; None where there is none."""
    if (cert is None) != (key is None):
        found.append(
            str(Problem(option, "a certificate and its key go together", f"give {option}-cert and {option}-key"))
        )
    if option == "--service" and cert is not None and not ca:
        found.append(str(Problem("--service-cert", "nothing says whom to trust", "give --service-ca too")))
    return Tls(cert or "", key or "", ca) if cert or ca else None


def _pairs(texts: Iterable[str], found: list[str]) -> Iterable[tuple[str, str]]:
    for text in texts:
        host, sign, header = text.partition("=")
        if not (sign and host and header):
            found.append(str(Problem("--credential-header", f'"{text}" is no pair', "write *.example.com=x-api-key")))
        yield host, header.lower()
