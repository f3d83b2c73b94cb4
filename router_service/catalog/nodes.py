"""Nodes: what a YAML file says, with the file and line of every value, before anybody knows its type.

YAML 1.1 would guess: `country: NO` as false, `model_version: 2411` as a number, `1:30` as 90. Here the field that
reads a value decides, by the `kind` of its reader: text is the text as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from router_service.domain.problems import Problem
from router_service.domain.readers import Each, Reader

# A number as YAML 1.2 and JSON write it. `017` is 15 to some parsers and 17 to others, so it is no number here. The
# lengths are bounded so that no literal is worked on for long, and every decimal is exact.
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?")
_WHOLE = re.compile(r"0|[1-9][0-9]{0,17}")
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_SHOWN = 60  # characters of a text in a message
_FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class Node:
    """One value: where it stands. Lines and columns count from 1."""

    __slots__ = ("column", "file", "line")

    def __init__(self, file: str, line: int, column: int) -> None:
        self.file = file
        self.line = line
        self.column = column


class Scalar(Node):
    """A single value as text; `plain` where it stands without quotes and is no block."""

    __slots__ = ("plain", "text")

    def __init__(self, file: str, line: int, column: int, text: str, *, plain: bool) -> None:
        self.file = file
        self.line = line
        self.column = column
        self.text = text
        self.plain = plain

    @property
    def is_null(self) -> bool:
        """Whether nothing is written here: empty, `~` or `null`."""
        return self.plain and self.text in _NULLS


class Sequence(Node):
    """A list."""

    __slots__ = ("items",)

    def __init__(self, file: str, line: int, column: int, items: list[AnyNode]) -> None:
        super().__init__(file, line, column)
        self.items = items


class Mapping(Node):
    """A mapping: the values by key, and the line of each key."""

    __slots__ = ("key_lines", "values")

    def __init__(
        self, file: str, line: int, column: int, values: dict[str, AnyNode], key_lines: dict[str, int]
    ) -> None:
        super().__init__(file, line, column)
        self.values = values
        self.key_lines = key_lines


AnyNode: TypeAlias = Scalar | Sequence | Mapping


def is_null(node: AnyNode | None) -> bool:
    """Whether a key is not there, or says nothing."""
    return node is None or (isinstance(node, Scalar) and node.is_null)


def value_of(node: AnyNode, reader: Reader, place: str, problems: list[Problem]) -> object:
    """The raw value for `reader`, typed by its kind; None where nothing is written.

    What does not fit the kind goes through as text, so that the reader says what it wants instead.
    """
    if isinstance(node, Scalar):
        if node.plain and node.text in _NULLS:
            return None
        kind = _KINDS[reader.kind]
        if kind.unquoted and not node.plain:
            shown = node.text if len(node.text) <= _SHOWN else f"{node.text[: _SHOWN - 3]}…"
            problems.append(Problem(place, f'"{shown}" is text', f"write {kind.unquoted} without quotes"))
            return None
        return kind.typed(node.text)
    if isinstance(node, Mapping):
        return {}
    if not isinstance(reader, Each):
        return []
    return [value_of(item, reader.of, f"{place}[{number}]", problems) for number, item in enumerate(node.items)]


def _number(text: str) -> int | Decimal | str:
    if _WHOLE.fullmatch(text):
        return int(text)
    return Decimal(text) if _NUMBER.fullmatch(text) else text


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a kind of value is written: its type, and what it is called where quotes would make text of it."""

    typed: Callable[[str], object]
    unquoted: str = ""


_KINDS = {
    "text": _Kind(str),
    "number": _Kind(_number, "a number"),
    "flag": _Kind(lambda text: _FLAGS.get(text, text), "true or false"),
    "list": _Kind(str),
}
