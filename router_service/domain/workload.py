"""Workload: a named, versioned contract of routing; requests inherit and narrow it (docs/reliability.md, Workloads)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import or_
from typing import Any

import msgspec

from router_service.domain import words
from router_service.domain.fields import Field, Table, read_fields, table
from router_service.domain.money import plain
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.readers import Text
from router_service.domain.request import FIELDS as REQUEST_FIELDS
from router_service.domain.request import RouteRequest, Stated, contradictions

_NAME, _VERSION = "[a-z0-9][a-z0-9-]*", "[0-9]+([.-][0-9]+)*"
LABEL = Text(
    folded=True,
    pattern=f"{_NAME}(@{_VERSION})?",
    pattern_cure="write the name of a workload, or name@version: invoices, invoices@2026-11-30",
)
"""How a request names a workload: `name`, the newest, or `name@version`."""

_LIMITS = ("max_price", "max_cost")  # held in millionths
_NAMED = 8  # entries of a list in a message
# The levels from which on an answer follows a schema, and not only a syntax.
_SCHEMA_LEVELS = ("json-schema", "strict")

CommonRegions = Callable[[tuple[str, ...], tuple[str, ...]], tuple[str, ...] | None]
"""A list of regions that admits just what two lists both admit; empty where that is nothing, None where none does."""


def _greater_of(ordered: tuple[str, ...], ours: str, theirs: str) -> str:
    return max(ours, theirs, key=ordered.index)


def _lesser_of(ordered: tuple[str, ...], ours: str, theirs: str) -> str:
    return min(ours, theirs, key=ordered.index)


def _all_of(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ours, *theirs)))


def _common(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in theirs if one in ours)


def _own(_ours: str, theirs: str) -> str:
    return theirs


# What a workload may state: all of a request that several requests can have in common.
NEEDS = tuple(name for name in REQUEST_FIELDS if name not in ("model", "exclude_endpoints"))
# What becomes of a field that both state, of the workload's value and the request's. Nothing is admitted then that
# either value refuses; an empty list says that nothing would be. A task or a language prefers and never refuses, so the
# request's own holds. Regions are not here: what two lists have in common is known only on a catalogue.
JOINS: Mapping[str, Callable[[Any, Any], Any]] = {
    "task": _own,
    "language": _own,
    "residency": partial(_lesser_of, words.RESIDENCIES),
    "input_tokens": max,
    "output_tokens": max,
    "expected_output_tokens": max,
    "modalities": _all_of,
    "requires_tools": or_,
    "structured_output": partial(_greater_of, words.STRUCTURED_OUTPUTS),
    "model_classes": _common,
    "max_price": min,
    "max_cost": min,
    "deadline_ms": min,
    "max_attempts": min,
}

FIELDS: Table = table(
    Field(
        "name",
        Text(folded=True, pattern=_NAME, pattern_cure="use a-z, 0-9 and -, and no - at the beginning"),
        "the name that requests ask for",
        required=True,
    ),
    Field(
        "version",
        Text(pattern=_VERSION, pattern_cure="use numbers joined by dots or hyphens: 3, 1.2, 2026-11-30"),
        "its version; numbers joined by dots or hyphens, of which the greatest is the newest",
        required=True,
    ),
    *(REQUEST_FIELDS[name] for name in NEEDS),
    Field("schema_id", Text(), "the schema that answers follow, by the id under which the callers know it"),
)


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """What all requests of one kind need, in the units of RouteRequest; `read` makes one of raw values."""

    name: str
    version: str
    needs: Stated
    schema_id: str = ""

    @property
    def label(self) -> str:
        """`name@version`."""
        return f"{self.name}@{self.version}"

    @property
    def place(self) -> str:
        """What workloads are put in order by: the name, then the numbers of the version, the newest last.

        Versions of the same numbers have the same place. A number stands behind the count of its digits, so that
        text compares as numbers do; a space is less than any character of a name.
        """
        numbers = (number.lstrip("0") for number in self.version.replace("-", ".").split("."))
        return f"{self.name} " + ".".join(f"{len(number):03}{number}" for number in numbers)

    @classmethod
    def read(cls, raw: Mapping[str, object]) -> Workload:
        """The workload that `raw` describes by the names of `FIELDS`. Raises InvalidValue with all problems at once."""
        values, problems = read_fields(FIELDS, raw)
        schema_id, level = values.get("schema_id", ""), values.get("structured_output", "none")
        if schema_id and level not in _SCHEMA_LEVELS:
            cure = f"write structured_output: {' or '.join(_SCHEMA_LEVELS)}, or leave schema_id out"
            problems.append(Problem("schema_id", f"structured_output {level} holds no answer to a schema", cure))
        needs = Stated.of({name: value for name, value in values.items() if name in NEEDS}, problems)
        if problems:
            raise InvalidValue(str(raw.get("name") or "workload"), problems)
        return cls(name=values["name"], version=values["version"], needs=needs, schema_id=schema_id)


class Origin(msgspec.Struct, frozen=True):
    """Where the value that held for a field comes from: `workload`, `request`, or `both`, joined or agreeing."""

    field: str
    source: str
    value: str


class Joined(msgspec.Struct, frozen=True):
    """A workload, the fields that a request states itself that names it, and the request that the two became.

    `label` is the workload's.
    """

    workload: Workload
    label: str
    own: Stated
    request: RouteRequest

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Where each field comes from that either states, in the order of a request's fields."""
        told = []
        for name in REQUEST_FIELDS:
            ours, theirs = getattr(self.workload.needs, name), getattr(self.own, name)
            if ours is None and theirs is None:
                continue
            held = getattr(self.request, name)
            told.append(Origin(name, _source(_agree(ours, held), _agree(theirs, held)), _shown(name, held)))
        return tuple(told)


def join(workload: Workload, own: Stated, common_regions: CommonRegions) -> Joined:
    """What a request that states `own` becomes under a workload. Raises InvalidValue with every problem at once.

    Nothing that the workload refuses is admitted, by any field (docs/reliability.md, Workloads).
    """
    values, problems = own.values, []
    for name, ours in workload.needs.values.items():
        theirs = values.get(name)
        if theirs is None:
            values[name] = ours
            continue
        both = JOINS.get(name, common_regions)
        values[name] = both(ours, theirs)
        if values[name] in (None, ()):
            problems.append(_apart(workload, name, theirs, said=values[name] is None))
    problems += [
        Problem(one.field, f"with workload {workload.label}, {one.message}", one.cure) for one in contradictions(values)
    ]
    if problems:
        raise InvalidValue("request", problems)
    return Joined(workload, workload.label, own, RouteRequest(**values))


def _apart(workload: Workload, name: str, theirs: tuple[str, ...], *, said: bool) -> Problem:
    ours = getattr(workload.needs, name)
    lists = f"the request lists {_some(theirs)}, workload {workload.label} lists {_some(ours)}"
    what = "no one list says what is in both" if said else "nothing is in both"
    return Problem(name, f"{lists}: {what}", f"list what lies within the workload's own, or leave out {name}")


def _some(entries: tuple[str, ...]) -> str:
    """The entries, the first of them where they are many: a message is to be read."""
    more = f" and {len(entries) - _NAMED} more" if len(entries) > _NAMED else ""
    return ", ".join(entries[:_NAMED]) + more


def _source(ours: bool, theirs: bool) -> str:
    if ours == theirs:
        return "both"
    return "workload" if ours else "request"


def _agree(stated: Any, held: Any) -> bool:
    """Whether a stated value is the one that held; a list in any order."""
    if isinstance(stated, tuple):
        return frozenset(stated) == frozenset(held)
    return stated is not None and bool(stated == held)


def _shown(name: str, value: Any) -> str:
    """A field's value as a person writes it."""
    if name in _LIMITS:
        return plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
