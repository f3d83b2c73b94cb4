"""Tables of fields: the one description that wire, YAML, JSON Schema and validation all read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from router_service.domain.problems import Problem
from router_service.domain.readers import Reader


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its name everywhere, how it is read, and one line on what it means."""

    name: str
    reader: Reader
    about: str
    required: bool = False


class Table(dict[str, Field]):
    """The fields by name, in their order, and the names of those that must be given."""

    def __init__(self, fields: Iterable[Field]) -> None:
        super().__init__((field.name, field) for field in fields)
        self.required = tuple(field.name for field in self.values() if field.required)


def table(*fields: Field) -> Table:
    """A table of these fields."""
    return Table(fields)


def read_fields(fields: Table, raw: Mapping[str, object]) -> tuple[dict[str, Any], list[Problem]]:
    """The canonical values of what `raw` gives, and all problems. None and empty text are absent.

    Only given fields are in the result, so that the defaults stay where the value object declares them.
    """
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, given in raw.items():
        field = fields.get(name)
        if field is None:
            problems.append(unknown_field(name, fields))
        elif given is not None and given != "":
            value = field.reader.read(given, name, problems)
            if value is not None and value != "":
                values[name] = value
    missing = [name for name in fields.required if name not in values and raw.get(name) in (None, "")]
    problems += [Problem(name, "missing", fields[name].about) for name in missing]
    return values, problems


def unknown_field(name: str, known: Mapping[str, object]) -> Problem:
    """The problem of a field that nobody knows, with the name that was probably meant."""
    close = difflib.get_close_matches(name, list(known), n=1)
    cure = f"did you mean {close[0]}?" if close else f"use one of {', '.join(known)}"
    return Problem(name, "unknown field", cure)
