"""`router-service serve`."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import click
import uvloop

from router_service.catalog.aside import LoadFailed
from router_service.catalog.load import CatalogInvalid
from router_service.cli.options import CATALOG, Seconds, UsageProblem, example_catalog, flag
from router_service.server.app import Settings, serve
from router_service.server.listen import DEFAULT_ADDRESS, Address, AddressError, parse_addresses
from router_service.server.log import FORMATS, LEVELS
from router_service.store.interface import Store
from router_service.store.open import StoreUrlError, open_store

NO_STORE = "none"


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
@flag("--local-admin", is_flag=True, help="Allow callers to set statuses and to have the catalogue loaded.")
@flag("--insecure", is_flag=True, help="Allow plain gRPC beyond loopback and Unix sockets.")
@flag("--stateless", is_flag=True, help="Allow requests that bring their own candidates and policy.")
@flag("--reflection/--no-reflection", default=None, help="Server reflection.  [default: where all addresses are local]")
@flag("--grace", type=Seconds(min=0), default=10.0, show_default=True, help="Seconds for calls to finish.")
@flag("--log-level", type=click.Choice(LEVELS), default="info", show_default=True, help="The least level to log.")
@flag("--log-format", type=click.Choice(FORMATS), default="auto", show_default=True, help="How to log.")
def command(
    listen: tuple[str, ...],
    catalog: Path | None,
    store: str | None,
    admin: str | None,
    local_admin: bool,
    insecure: bool,
    stateless: bool,
    reflection: bool | None,
    grace: float,
    log_level: str,
    log_format: str,
) -> None:
    """Serve decisions over gRPC, until SIGTERM or SIGINT. SIGHUP loads the catalogue anew."""
    try:
        addresses = parse_addresses(listen, insecure=insecure)
        admin_address = _admin_address(admin, insecure=insecure)
        if local_admin and not all(one.is_local for one in addresses):
            raise UsageProblem("--local-admin is for loopback and Unix sockets: others would have the role too")
        settings = Settings(
            catalog=catalog or example_catalog(),
            addresses=addresses,
            admin=admin_address,
            store=_store(store),
            stateless=stateless,
            local_admin=local_admin,
            reflection=all(one.is_local for one in addresses) if reflection is None else reflection,
            grace_s=grace,
            log_level=log_level,
            log_format=log_format,
        )
        if catalog is None:
            click.echo("No --catalog given: serving the bundled example catalogue.", err=True)
        uvloop.run(serve(settings, _say_ready))
    except AddressError as error:
        raise UsageProblem(str(error)) from None
    except StoreUrlError as error:
        raise UsageProblem(f"--store: {error}") from None
    except LoadFailed as error:
        raise UsageProblem(f"loading the catalogue failed: {error}") from None
    except CatalogInvalid as invalid:
        raise UsageProblem("\n".join(str(problem) for problem in invalid.problems)) from None


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
    if address.path is not None:
        raise AddressError(f"{text}: the admin port is HTTP; write host:port")
    return address


def _say_ready(addresses: list[str]) -> None:
    for address in addresses:
        click.echo(f"listening on {address}", err=True)
    example = addresses[0]
    click.echo(f"try: router-service decide --server {example} --task coding", err=True)
