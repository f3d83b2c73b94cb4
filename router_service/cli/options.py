"""Flags that several verbs share. Every flag has an environment variable, ROUTER_SERVICE_ and its name."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from router_service.domain.readers import Each, Reader, Word
from router_service.domain.request import FIELDS

DECIDED, REFUSED, MISUSED, UNREACHABLE = 0, 1, 2, 3
DEFAULT_SERVER = "127.0.0.1:50051"
_Command = TypeVar("_Command", bound=Callable[..., Any])


def flag(name: str, *other: str, **attributes: Any) -> Callable[[_Command], _Command]:
    """A click option whose environment variable is ROUTER_SERVICE_ and its name."""
    variable = "ROUTER_SERVICE_" + name.split("/", maxsplit=1)[0].removeprefix("--").upper().replace("-", "_")
    return click.option(name, *other, envvar=variable, show_envvar=True, **attributes)


class UsageProblem(click.ClickException):
    """Something asked in a way that cannot be answered: usage or configuration, exit code 2."""

    exit_code = MISUSED


class ServerUnreachable(click.ClickException):
    """Nobody answers at the server's address: exit code 3."""

    exit_code = UNREACHABLE


def example_catalog() -> Path:
    """The catalogue that is bundled as an example."""
    return Path(str(resources.files("router_service.catalog") / "example.yaml"))


class Seconds(click.FloatRange):
    """A finite number of seconds; click's own range lets `nan` pass."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return number


def is_said(name: str) -> bool:
    """Whether a flag was given on the command line, which goes before what an environment variable says."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


CATALOG = flag(
    "--catalog",
    type=click.Path(path_type=Path, exists=True),
    help="The catalogue: a YAML file or a folder of them.  [default: the bundled example]",
)
SERVER = flag("--server", metavar="HOST:PORT", help="Ask a running server instead of a catalogue (or unix:/path).")
WORKLOAD = flag(
    "--workload", metavar="NAME[@VERSION]", default="", help="A workload of the catalogue that the request narrows."
)
DATA_CLASS = flag("--data-class", default="", help="The class of data that the request holds: personal, health.")
OPERATION_ID = flag("--operation-id", default="", help="Your own id of the operation, kept in the trace.")
TIMEOUT = flag(
    "--timeout", type=Seconds(min=0.001), default=5.0, show_default=True, help="Seconds to wait for a server."
)
OUTPUT = flag(
    "--output", type=click.Choice(["table", "json"]), default="table", show_default=True, help="What to print."
)


def request_flags(command: _Command) -> _Command:
    """A flag for every field of a request; lists may be given several times."""
    for field in reversed(FIELDS.values()):
        kind = field.reader.kind
        about = field.about[0].upper() + field.about[1:]
        attributes: dict[str, Any] = {"help": about + ("; may be given several times." if kind == "list" else ".")}
        if kind == "flag":
            attributes.update(is_flag=True, default=None)
        elif kind == "list":
            attributes.update(multiple=True, metavar=_metavar(field.reader))
        else:
            attributes.update(metavar=_metavar(field.reader))
        command = flag("--" + field.name.replace("_", "-"), field.name, **attributes)(command)
    return command


def _metavar(reader: Reader) -> str:
    """What a flag's value looks like: its words, a number, or text."""
    one = reader.of if isinstance(reader, Each) else reader
    if isinstance(one, Word):
        return f"[{'|'.join(one.words)}]"
    return "NUMBER" if one.kind == "number" else "TEXT"


def raw_request(given: dict[str, Any]) -> dict[str, Any]:
    """The given flags of a request as the domain's tables read them; what was not given is not there."""
    return {
        name: _number(value) if FIELDS[name].reader.kind == "number" else value
        for name, value in given.items()
        if value is not None and value != ()
    }


def _number(text: str) -> Decimal | str:
    """The number that `text` writes, or the text itself for the reader to refuse."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return text
