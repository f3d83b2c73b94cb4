"""`router-service schema`: the JSON Schema of a catalogue, for editors."""

from __future__ import annotations

import json

import click

from router_service.catalog.schema import catalog_schema


@click.command()
def command() -> None:
    """Print the JSON Schema of a catalogue file, for editors.

    \b
    router-service schema > catalog.schema.json
    # and as the first line of the catalogue:
    # yaml-language-server: $schema=catalog.schema.json
    """  # noqa: D301 - click's own mark, a backspace, keeps the lines of the example apart
    click.echo(json.dumps(catalog_schema(), indent=2, ensure_ascii=False))
