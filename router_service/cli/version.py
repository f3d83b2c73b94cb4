"""`router-service version`."""

from __future__ import annotations

import click

from router_service import __version__


@click.command()
def command() -> None:
    """Print the version."""
    click.echo(f"router-service {__version__}")
