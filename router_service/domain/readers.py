"""Readers: what a raw value from a file or the wire may look like, and the one canonical form it gets.

A reader never guesses, clamps or drops: what does not fit is added to `problems` with its place and its cure, and
`None` is returned. `kind` says how the value is written ("text", "number", "flag" or "list"), which is all a file
format has to know; `schema` is its JSON Schema.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from router_service.domain.money import decimal_of, exact_millionths, floor_cost, floor_millionths
from router_service.domain.problems import LIST_LENGTH, TEXT_LENGTH, Problem
from router_service.domain.text import fold, is_printable_ascii, trim

TEXT_MAX = 256  # characters of any text
LIST_MAX = 1024  # entries of any list
NAMED_MAX = 64  # wrong entries of one list that are named: nobody reads more, and to name each takes its time

_TURNS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))

Json = dict[str, Any]


class Reader(Protocol):
    """Reads one raw value; see the module's docstring."""

    @property
    def kind(self) -> str: ...

    def read(self, raw: object, place: str, problems: list[Problem]) -> Any: ...

    def schema(self) -> Json: ...


@dataclass(frozen=True, slots=True)
class Text:
    """Text, trimmed; folded in ASCII where `folded`; of printable ASCII where `ascii_only`."""

    kind: ClassVar[str] = "text"
    folded: bool = False
    ascii_only: bool = False
    pattern: str = ""
    pattern_cure: str = ""

    def read(self, raw: object, place: str, problems: list[Problem]) -> str | None:
        if not isinstance(raw, str):
            problems.append(Problem(place, f"{shown(raw)} is not text", "write a string"))
            return None
        text = trim(raw)
        if len(text) > TEXT_MAX:
            cure = f"use at most {TEXT_MAX} characters"
            problems.append(Problem(place, f"{len(text)} characters are too many", cure, TEXT_LENGTH))
            return None
        text = fold(text) if self.folded else text
        if self.ascii_only and not is_printable_ascii(text):
            problems.append(
                Problem(place, f"{shown(text)} has a character outside printable ASCII", "use U+0020 to U+007E")
            )
        elif not text.isprintable() and any(map(_is_unshown, text)):
            problems.append(Problem(place, f"{shown(text)} has a control character", "remove it"))
        elif text and self.pattern and not re.fullmatch(self.pattern, text):
            problems.append(Problem(place, f"{shown(text)} is malformed", self.pattern_cure))
        else:
            return text
        return None

    def schema(self) -> Json:
        schema: Json = {"type": ["string", "number", "boolean"], "maxLength": TEXT_MAX}
        pattern = self.pattern.replace("a-z", "A-Za-z") if self.folded else self.pattern  # JSON Schema has no flags
        return schema if pattern == "" else {"type": ["string", "number"], "pattern": f"^({pattern})$"}


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a closed set, in any case."""

    kind: ClassVar[str] = "text"
    words: tuple[str, ...]

    def read(self, raw: object, place: str, problems: list[Problem]) -> str | None:
        if isinstance(raw, str):
            word = fold(raw)
            if word in self.words:
                return word
        problems.append(Problem(place, f"unknown word {shown(raw)}", f"use one of {', '.join(self.words)}"))
        return None

    def schema(self) -> Json:
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from `least` to `most`."""

    kind: ClassVar[str] = "number"
    least: int
    most: int
    unit: str = ""

    def read(self, raw: object, place: str, problems: list[Problem]) -> int | None:
        if type(raw) is int and self.least <= raw <= self.most:
            return raw
        value = decimal_of(raw)
        if value is not None and value == value.to_integral_value() and self.least <= value <= self.most:
            return int(value)
        unit = f" {self.unit}" if self.unit else ""
        cure = f"use a whole number from {self.least} to {self.most}{unit}"
        problems.append(Problem(place, f"{shown(raw)} makes no sense", cure))
        return None

    def schema(self) -> Json:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class Money:
    """A non-negative decimal amount of the catalogue's currency, as integer millionths.

    More than six places are malformed, or rounded down where the amount is a limit (`rounded_down`).
    """

    kind: ClassVar[str] = "number"
    most: int
    rounded_down: bool = False

    def read(self, raw: object, place: str, problems: list[Problem]) -> int | None:
        value = decimal_of(raw)
        if value is None or not 0 <= value <= self.most:
            problems.append(Problem(place, f"{shown(raw)} makes no sense", f"use a number from 0 to {self.most}"))
            return None
        if self.rounded_down:
            return floor_millionths(value)
        millionths = exact_millionths(value)
        if millionths is None:
            problems.append(Problem(place, f"{shown(raw)} has more than six places", "round it to six places"))
        return millionths

    def schema(self) -> Json:
        return {"type": "number", "minimum": 0, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class Cost(Money):
    """A non-negative amount that was paid, as an integer of 10⁻¹²; what is finer is rounded down."""

    def read(self, raw: object, place: str, problems: list[Problem]) -> int | None:
        known = len(problems)
        if Money(self.most, rounded_down=True).read(raw, place, problems) is None or len(problems) > known:
            return None
        value = decimal_of(raw)
        return None if value is None else floor_cost(value)


@dataclass(frozen=True, slots=True)
class Real:
    """A finite number from `least` to `most`, as `into` makes it of the decimal that was written."""

    kind: ClassVar[str] = "number"
    least: int
    most: int
    above_least: bool = False
    into: Callable[[Decimal], float | Fraction] = float

    def read(self, raw: object, place: str, problems: list[Problem]) -> float | Fraction | None:
        value = decimal_of(raw)
        if value is None or not self.least <= value <= self.most or (self.above_least and value == self.least):
            low = f"above {self.least}" if self.above_least else f"from {self.least}"
            up_to = "up to" if self.above_least else "to"
            problems.append(Problem(place, f"{shown(raw)} makes no sense", f"use a number {low} {up_to} {self.most}"))
            return None
        return self.into(value)

    def schema(self) -> Json:
        low = "exclusiveMinimum" if self.above_least else "minimum"
        return {"type": "number", low: self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""

    kind: ClassVar[str] = "flag"

    def read(self, raw: object, place: str, problems: list[Problem]) -> bool | None:
        if isinstance(raw, bool):
            return raw
        problems.append(Problem(place, f"{shown(raw)} is neither true nor false", "write true or false"))
        return None

    def schema(self) -> Json:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Each:
    """A list, every entry read by `of`; an empty entry is malformed anywhere. The order stays, repeats do not."""

    kind: ClassVar[str] = "list"
    of: Reader
    most: int = LIST_MAX
    least: int = 0

    def read(self, raw: object, place: str, problems: list[Problem]) -> tuple[Any, ...] | None:
        if isinstance(raw, str | bytes | dict) or not (hasattr(raw, "__iter__") or hasattr(raw, "__len__")):
            problems.append(Problem(place, f"{shown(raw)} is not a list", "write a list"))
            return None
        given: Any = raw
        entries = given if hasattr(given, "__len__") else list(given)
        if not self.least <= len(entries) <= self.most:
            cure, limit = f"list from {self.least} to {self.most} entries", LIST_LENGTH if len(entries) else ""
            problems.append(Problem(place, f"{len(entries)} entries", cure, limit))
            return None
        found: dict[Any, None] = {}
        known = len(problems)
        for number, entry in enumerate(entries):
            where = f"{place}[{number}]"
            if len(problems) - known >= NAMED_MAX:
                left = f"{len(entries) - number} more entries, which were not looked at"
                problems.append(Problem(place, left, f"correct the {NAMED_MAX} before them first"))
                return None
            if entry is None or (isinstance(entry, str) and not trim(entry)):
                problems.append(Problem(where, "empty entry", "remove it or fill it in"))
            elif (value := self.of.read(entry, where, problems)) is not None:
                found[value] = None
        return tuple(found)

    def schema(self) -> Json:
        return {"type": "array", "items": self.of.schema(), "minItems": self.least, "maxItems": self.most}


def _is_unshown(character: str) -> bool:
    """Whether a character commands a terminal or turns the direction of text, and so has no place in a name."""
    return unicodedata.category(character) in ("Cc", "Cs") or unicodedata.bidirectional(character) in _TURNS


def printable(text: str) -> str:
    """The text with what commands a terminal, and all else that does not print, written as escapes."""
    return text if text.isprintable() else "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def shown(raw: object) -> str:
    """`raw` as a message shows it: short, and never more of it than names the mistake."""
    if isinstance(raw, str):
        text = printable(raw[:61])
        return f'"{text}"' if len(raw) <= 60 else f'"{text[:57]}…"'
    if raw is None:
        return "an empty value"
    if isinstance(raw, dict | list | tuple):
        return "a mapping" if isinstance(raw, dict) else "a list"
    text = str(raw).lower() if isinstance(raw, bool) else str(raw)
    return text if len(text) <= 60 else f"{text[:57]}…"
