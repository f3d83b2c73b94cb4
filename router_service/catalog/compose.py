"""Compose: the bytes of one YAML file become nodes, or problems with their lines.

Built on the events of PyYAML's C parser instead of its composer: several times faster for thousands of endpoints, and
duplicate keys, tags, depth and the expansion of aliases are seen where they happen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from router_service.catalog.located import Located
from router_service.catalog.nodes import AnyNode, Mapping, Scalar, Sequence, is_null
from router_service.domain.problems import Problem

try:
    from yaml import CSafeLoader
except ImportError as error:  # pragma: no cover - every published wheel has it
    raise ImportError(
        "PyYAML was built without its C loader; install a wheel of it, or build it with libyaml's headers"
    ) from error

DEPTH_MAX = 20  # a catalogue needs five
EXPANSION_MAX = 100_000  # values that aliases may add to what is written

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MERGE_KEY = "<<"

# Part of what libyaml says → what to do about it; the first that fits.
_CURES = (
    ("tab character", "indent with spaces"),
    ("mapping values are not allowed", 'check the indentation, and quote text that holds ": "'),
    ("cannot start any token", "quote text that starts with @, ` or %"),
    ("expected key", "check the indentation of this line and of those above it"),
    ("block end", "check the indentation of this line and of those above it"),
    ("expected ',' or", "put a comma between entries, and close the bracket"),
    ("unexpected end of stream", "close the quote"),
    ("escape", r"write \\ for a backslash, or use single quotes"),
    ("nesting depth", f"nest at most {DEPTH_MAX} deep"),
    ("", "correct the YAML here"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is meant to be, and a key that it may begin with, for messages."""

    name: str
    key: str


CATALOGUE = Kind("catalogue", "endpoints")


class _Unusable(Exception):
    """Nothing more can be read of this file; holds the line and the problem."""

    def __init__(self, line: int, message: str, cure: str) -> None:
        super().__init__(message)
        self.line = line
        self.problem = Problem("", message, cure)


def compose(file: str, data: bytes, problems: list[Located], kind: Kind = CATALOGUE) -> Mapping | None:
    """The mapping that a file holds. What is wrong is added to `problems`; None where nothing can be read.

    `file` is the name that nodes and problems carry.
    """
    try:
        _refuse_no_text(data)
        return _Composer(file, data, problems, kind).document()
    except _Unusable as unusable:
        problems.append(Located(file, unusable.line, unusable.problem))
    except yaml.YAMLError as error:
        problems.append(Located(file, *_explained(error, data)))
    return None


def _refuse_no_text(data: bytes) -> None:
    if b"\0" in data:
        raise _Unusable(data[: data.index(b"\0")].count(b"\n") + 1, "not text but binary", "give a YAML file")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _Unusable(line, f"byte 0x{data[error.start]:02x} is no UTF-8", "save the file as UTF-8") from None
    unprintable = _UNPRINTABLE.search(text)
    if unprintable:
        line = text.count("\n", 0, unprintable.start()) + 1
        raise _Unusable(line, f"control character U+{ord(unprintable[0]):04X}", "remove it")


def _explained(error: yaml.YAMLError, data: bytes) -> tuple[int, Problem]:
    """The line of a syntax error, what libyaml says of it, and a cure."""
    mark: Any = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark else 1
    said = str(getattr(error, "problem", None) or error)
    if "cannot start any token" in said and mark and _at(data, mark) == "\t":
        said = "found a tab character where spaces are needed"
    message = f"not YAML: {said}"
    begun: Any = getattr(error, "context_mark", None)
    if begun and begun.line + 1 < line:
        message += f", {getattr(error, 'context', '')} begun in line {begun.line + 1}"
    return line, Problem("", message, next(cure for part, cure in _CURES if part in said))


def _at(data: bytes, mark: Any) -> str:
    lines = data.decode().splitlines()
    return lines[mark.line][mark.column : mark.column + 1] if mark.line < len(lines) else ""


class _Composer:
    """One file's events on their way to nodes."""

    def __init__(self, file: str, data: bytes, problems: list[Located], kind: Kind) -> None:
        self._file = file
        self._kind = kind
        self._problems = problems
        self._next: Any = CSafeLoader(data).get_event
        self._anchors: dict[str, tuple[AnyNode, int]] = {}
        self._values = 0  # written so far, with what aliases stand for
        self._expanded = 0  # of these, what aliases stand for

    def document(self) -> Mapping:
        """The only document of the file."""
        self._next()  # the stream's start
        if type(self._next()) is StreamEndEvent:
            raise _Unusable(1, "empty file", f"write a {self._kind.name}, or remove the file")
        root = self._node(self._next(), 0)
        self._next()  # the document's end
        after = self._next()
        line = after.start_mark.line + 1
        if type(after) is DocumentStartEvent:
            raise _Unusable(line, "a second document in one file", "keep one: remove the --- and join them")
        if is_null(root):
            raise _Unusable(root.line, "empty file", f"write a {self._kind.name}, or remove the file")
        if not isinstance(root, Mapping):
            raise _Unusable(root.line, "not a mapping", f"start with a key such as {self._kind.key}:")
        return root

    def _node(self, event: Any, depth: int) -> AnyNode:
        mark = event.start_mark
        line = mark.line + 1
        kind = type(event)
        if kind is AliasEvent:
            return self._alias(event.anchor, line)
        before = self._values
        self._values = before + 1
        if event.tag is not None:
            self._report(line, event.tag, "tags are not supported", "remove it; quote what is meant as text")
        node: AnyNode
        if kind is ScalarEvent:
            node = Scalar(self._file, line, mark.column + 1, event.value, plain=not event.style)
        elif depth == DEPTH_MAX:
            raise _Unusable(line, f"nested more than {DEPTH_MAX} deep", f"a {self._kind.name} needs no such depth")
        elif kind is SequenceStartEvent:
            node = Sequence(self._file, line, mark.column + 1, self._items(depth + 1))
        else:
            node = self._mapping(line, mark.column + 1, depth + 1)
        if event.anchor is not None:
            # Known only once it is whole, so that nothing can contain itself.
            self._anchors[event.anchor] = (node, self._values - before)
        return node

    def _items(self, depth: int) -> list[AnyNode]:
        items = []
        while type(event := self._next()) is not SequenceEndEvent:
            items.append(self._node(event, depth))
        return items

    def _mapping(self, line: int, column: int, depth: int) -> Mapping:
        values: dict[str, AnyNode] = {}
        lines: dict[str, int] = {}
        while type(event := self._next()) is not MappingEndEvent:
            key_line = event.start_mark.line + 1
            key, plain = self._key(event, depth)
            value = self._node(self._next(), depth)
            if key is None:
                self._report(key_line, "", "a key that is no text", "write key: value")
            elif key == _MERGE_KEY and plain:
                self._report(key_line, _MERGE_KEY, "merge keys are not supported", "write the keys out")
            elif key in values:
                first = f"the first time in line {lines[key]}"
                self._report(key_line, key, f"written twice, {first}", "keep one of the two")
            else:
                values[key] = value
                lines[key] = key_line
        return Mapping(self._file, line, column, values, lines)

    def _key(self, event: Any, depth: int) -> tuple[str | None, bool]:
        """A key's text, None where it is no text, and whether it is plain."""
        # Half of all values are keys, and hardly one has an anchor or a tag: those few take the long way.
        if type(event) is ScalarEvent and event.anchor is None and event.tag is None:
            return event.value, not event.style
        key = self._node(event, depth)
        return (key.text, key.plain) if isinstance(key, Scalar) else (None, False)

    def _alias(self, anchor: str, line: int) -> AnyNode:
        if anchor not in self._anchors:
            raise _Unusable(line, f"no anchor &{anchor} before *{anchor}", "define it first, or write the value out")
        node, size = self._anchors[anchor]
        self._values += size
        self._expanded += size
        if self._expanded > EXPANSION_MAX:
            message = f"aliases that stand for more than {EXPANSION_MAX} values"
            raise _Unusable(line, message, "write out what is meant")
        return node

    def _report(self, line: int, place: str, message: str, cure: str) -> None:
        self._problems.append(Located(self._file, line, Problem(place, message, cure)))
