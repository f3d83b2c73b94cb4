"""`router-service schema`: the JSON Schema of a catalogue, or of a callers file, for editors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from router_service.callers.schema import callers_schema
from router_service.catalog.schema import catalog_schema

_SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {"catalog": catalog_schema, "callers": callers_schema}


@click.command()
@click.argument("of", type=click.Choice([*_SCHEMAS]), default="catalog")
def command(of: str) -> None:
    """Print the JSON Schema of a catalogue file, or of a callers file, for editors.

    \b
    router-service schema > catalog.schema.json
    # and as the first line of the catalogue:
    # yaml-language-server: $schema=catalog.schema.json
    """  # noqa: D301 - click's own mark, a backspace, keeps the lines of the example apart
    click.echo(json.dumps(_SCHEMAS[of](), indent=2, ensure_ascii=False))
