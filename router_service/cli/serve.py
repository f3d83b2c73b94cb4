"""`router-service serve`."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import click
import uvloop

from router_service.callers.load import CallersInvalid
from router_service.catalog.aside import LoadFailed
from router_service.catalog.load import CatalogInvalid
from router_service.cli import several
from router_service.cli.early import ends_at_once_again, is_over
from router_service.cli.limit_flags import limit_flags, limits_of
from router_service.cli.options import CATALOG, Seconds, UsageProblem, example_catalog, flag
from router_service.server.app import serve
from router_service.server.drain import DELAY_S, GRACE_S
from router_service.server.identity.audit import AuditInvalid
from router_service.server.identity.tls import TlsInvalid, TlsPaths
from router_service.server.listen import DEFAULT_ADDRESS, MTLS, PLAIN, TLS, Address, AddressError, parse_addresses
from router_service.server.log import FORMATS, LEVELS
from router_service.server.settings import Settings
from router_service.server.telemetry import TelemetryInvalid, spans_of
from router_service.server.workers.plan import WORKERS_MAX, become_supervisor
from router_service.server.workers.seat import taken_seat
from router_service.store.interface import Store
from router_service.store.open import StoreUrlError, open_store

NO_STORE = "none"
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@flag(
    "--listen",
    multiple=True,
    metavar="HOST:PORT",
    help=f"Where to listen; may be given several times; unix:/path for a socket.  [default: {DEFAULT_ADDRESS}]",
)
@CATALOG
@flag(
    "--store",
    metavar="URL",
    help="Where budgets and traces are kept: sqlite:PATH, redis://HOST:PORT/DB, or none."
    "  [default: sqlite: in the user's state folder]",
)
@flag("--admin", metavar="HOST:PORT", help="Where to answer /metrics and /healthz over HTTP.  [default: nowhere]")
@flag(
    "--health",
    metavar="HOST:PORT",
    help="Where to answer health checks alone, in plain gRPC, for probes that know no TLS and no Unix socket."
    "  [default: where all else is answered]",
)
@flag(
    "--callers",
    type=click.Path(path_type=Path, exists=True),
    help="Who may call and what each may: a YAML file or a folder of them.  [default: no authentication]",
)
@flag("--tls-cert", type=_FILE, help="The server's certificate chain, in PEM; TLS is then the default of --listen.")
@flag("--tls-key", type=_FILE, help="Its key, in PEM.")
@flag("--tls-client-ca", type=_FILE, help="The CAs of clients' certificates, in PEM; clients must then have one.")
@flag(
    "--audit-log", type=click.Path(path_type=Path, dir_okay=False), help="A file for the audit log too, a JSON a line."
)
@flag("--local-admin", is_flag=True, help="Allow callers to set statuses and to have the catalogue loaded.")
@flag("--insecure", is_flag=True, help="Allow plain gRPC beyond loopback and Unix sockets.")
@flag("--stateless", is_flag=True, help="Allow requests that bring their own candidates and policy.")
@flag("--envoy-authz", is_flag=True, help="Answer Envoy's external authorisation, and take its access log as reports.")
@flag("--envoy-processing", is_flag=True, help="Answer Envoy's external processing, for pools of ip:port.")
@flag("--reflection/--no-reflection", default=None, help="Server reflection.  [default: where all addresses are local]")
@flag(
    "--workers",
    type=click.IntRange(min=1, max=WORKERS_MAX),
    default=1,
    show_default=True,
    help="Processes that share the ports, one for each core; they need a store to share what they learn.",
)
@flag(
    "--drain-delay",
    type=Seconds(min=0),
    default=DELAY_S,
    show_default=True,
    help="Seconds to go on answering after SIGTERM, while callers and balancers see NOT_SERVING.",
)
@flag(
    "--grace", type=Seconds(min=0), default=GRACE_S, show_default=True, help="Seconds for calls to finish after that."
)
@flag("--log-level", type=click.Choice(LEVELS), default="info", show_default=True, help="The least level to log.")
@flag("--log-format", type=click.Choice(FORMATS), default="auto", show_default=True, help="How to log.")
@limit_flags
def command(
    listen: tuple[str, ...],
    catalog: Path | None,
    store: str | None,
    admin: str | None,
    health: str | None,
    callers: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    tls_client_ca: Path | None,
    audit_log: Path | None,
    local_admin: bool,
    insecure: bool,
    stateless: bool,
    envoy_authz: bool,
    envoy_processing: bool,
    reflection: bool | None,
    workers: int,
    drain_delay: float,
    grace: float,
    log_level: str,
    log_format: str,
    **most: int,
) -> None:
    """Serve decisions over gRPC, until SIGTERM or SIGINT. SIGHUP loads the catalogue, callers and certificate anew."""
    seat = taken_seat()
    try:
        tls = _tls_paths(tls_cert, tls_key, tls_client_ca)
        addresses = parse_addresses(seat.listen if seat else listen, insecure=insecure, offers=_offers(tls))
        admin_address = _admin_address(admin, insecure=insecure)
        _check_admin(local_admin, callers, addresses)
        settings = Settings(
            catalog=catalog or example_catalog(),
            addresses=addresses,
            admin=None if seat else admin_address,
            health=_health_address(seat.health if seat else health),
            store=_store(store),
            stateless=stateless,
            envoy_authz=envoy_authz,
            envoy_processing=envoy_processing,
            callers=callers,
            tls=tls,
            audit_log=audit_log,
            local_admin=local_admin,
            reflection=all(one.is_local for one in addresses) if reflection is None else reflection,
            drain_delay_s=drain_delay,
            grace_s=grace,
            seat=seat,
            limits=limits_of(most),
            spans=spans_of(os.environ) if seat or workers == 1 else None,  # a supervisor answers no calls
            log_level=log_level,
            log_format=log_format,
        )
        if seat is None:
            several.check(workers, settings)
            _say_what_is_missing(catalog, callers, addresses)
            if workers > 1:
                become_supervisor(several.plan(workers, settings))
        uvloop.run(_serve(settings))
        is_over()
    except AddressError as error:
        raise UsageProblem(str(error)) from None
    except StoreUrlError as error:
        raise UsageProblem(f"--store: {error}") from None
    except LoadFailed as error:
        raise UsageProblem(f"loading the catalogue failed: {error}") from None
    except (TlsInvalid, AuditInvalid, TelemetryInvalid) as error:
        raise UsageProblem(str(error)) from None
    except (CatalogInvalid, CallersInvalid) as invalid:
        raise UsageProblem("\n".join(str(problem) for problem in invalid.problems)) from None


async def _serve(settings: Settings) -> None:
    await serve(settings, _say_ready)
    ends_at_once_again(asyncio.get_running_loop())


def _check_admin(local_admin: bool, callers: Path | None, addresses: Sequence[Address]) -> None:
    if local_admin and not all(one.is_local for one in addresses):
        raise UsageProblem("--local-admin is for loopback and Unix sockets: others would have the role too")
    if local_admin and callers:
        raise UsageProblem("--local-admin is for servers without --callers: give a caller the role admin instead")


def _say_what_is_missing(catalog: Path | None, callers: Path | None, addresses: Sequence[Address]) -> None:
    if catalog is None:
        click.echo("No --catalog given: serving the bundled example catalogue.", err=True)
    if callers is None and not all(one.is_local for one in addresses):
        click.echo("No --callers given: whoever reaches it has every policy and every role but admin.", err=True)


def _tls_paths(cert: Path | None, key: Path | None, client_ca: Path | None) -> TlsPaths | None:
    if cert is None and key is None and client_ca is None:
        return None
    if cert is None or key is None:
        raise UsageProblem("TLS needs both the certificate and its key: give --tls-cert and --tls-key")
    return TlsPaths(cert, key, client_ca)


def _offers(tls: TlsPaths | None) -> str:
    """What an address is spoken to by that does not say it itself."""
    if tls is None:
        return PLAIN
    return TLS if tls.client_ca is None else MTLS


def _store(url: str | None) -> Store | None:
    """The store of a URL; by default a file of the user's own, where programs keep their state."""
    if url == NO_STORE:
        return None
    if url is None:
        try:
            state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        except RuntimeError:
            raise StoreUrlError("there is no home folder to keep it in: say sqlite:PATH, or none") from None
        folder = state / "router-service"
        with contextlib.suppress(OSError):  # where that cannot be, the store says so
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        url = f"sqlite:{folder / 'router.db'}"
    return open_store(url)


def _admin_address(text: str | None, *, insecure: bool) -> Address | None:
    if text is None:
        return None
    address = parse_addresses((text,), insecure=insecure)[0]
    if address.path is not None or address.text.startswith(PLAIN):
        raise AddressError(f"{text}: the admin port is HTTP; write host:port")
    return address


def _health_address(text: str | None) -> Address | None:
    """Anywhere: it tells nothing that would have to be kept from anybody."""
    return None if text is None else parse_addresses((text,), insecure=True)[0]


def _say_ready(addresses: list[str]) -> None:
    for address in addresses:
        click.echo(f"listening on {address}", err=True)
    example, *secured = addresses[0].split(" ", 1)
    if not secured:
        click.echo(f"try: router-service decide --server {example} --task coding", err=True)
