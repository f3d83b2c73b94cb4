"""Flags for the limits that an operator sets (docs/limits.md): `--max-` and the limit's name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import click

from router_service.cli.options import flag
from router_service.server.limits import Limits

_Command = TypeVar("_Command", bound=Callable[..., Any])
_ABOUT = {
    "connections": "Connections at a time; further ones are closed at once.",
    "calls": "Calls under way at a time, streams aside.",
    "calls_per_caller": "Calls of one caller that may wait at a time: for their turn, a budget, a report.",
    "streams": "Streams open at a time.",
    "streams_per_caller": "Streams of one caller open at a time.",
}


def limit_flags(command: _Command) -> _Command:
    """A flag for each; all are of one process."""
    for field in reversed(dataclasses.fields(Limits)):
        command = flag(
            f"--max-{field.name.replace('_', '-')}",
            f"max_{field.name}",
            type=click.IntRange(min=1),
            default=field.default,
            show_default=True,
            help=_ABOUT[field.name],
        )(command)
    return command


def limits_of(given: dict[str, int]) -> Limits:
    """The limits of what was given."""
    return Limits(**{name.removeprefix("max_"): value for name, value in given.items()})
