"""One row of a public catalogue, read field by field; a value of the wrong type leaves the row out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeGuard

from router_service.catalog.importing.report import LeftOut
from router_service.domain.money import TOKENS_MAX


def _printable(value: object) -> str:
    """Text without control characters and half characters, which no document could carry."""
    if isinstance(value, str) and value.strip().isprintable():
        return value.strip()
    raise LeftOut("malformed")


def is_number(value: object) -> TypeGuard[int | Decimal]:
    """Whether a JSON value is a finite number; true and false are none."""
    return isinstance(value, int | Decimal) and not isinstance(value, bool) and Decimal(value).is_finite()


@dataclass(frozen=True, slots=True)
class Row:
    """A row's values by name, as JSON gave them. Absent and null are the same: not documented.

    Every reader raises LeftOut("malformed") for a value of another type than it says. `changes` are the
    reasons (of report.py's `CHANGED`) why the row is not carried over just as it is.
    """

    values: Mapping[str, object]
    changes: set[str] = field(default_factory=set)

    def text(self, name: str) -> str:
        """Text, empty where absent."""
        value = self.values.get(name)
        return "" if value is None else _printable(value)

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, list):
            return tuple(map(_printable, value))
        raise LeftOut("malformed")

    def flag(self, name: str) -> bool | None:
        """true or false."""
        value = self.values.get(name)
        if value is None or isinstance(value, bool):
            return value
        raise LeftOut("malformed")

    def number(self, name: str) -> Decimal | None:
        """A number as written, NaN included; whoever uses it checks its range."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return Decimal(value)  # NaN too
        raise LeftOut("malformed")

    def tokens(self, name: str) -> int | None:
        """A limit in tokens, up to 10⁸. 0 limits nothing that could be called, so it is not documented."""
        value = self.number(name)
        if value is None:
            return None
        if not value.is_finite() or not 0 <= value <= TOKENS_MAX or value != int(value):
            raise LeftOut("malformed")
        if value == 0:
            self.changes.add("zero_limit_left_out")
        return int(value) or None

    def part(self, name: str) -> Row:
        """An object inside the row, empty where absent."""
        value = self.values.get(name)
        if value is None:
            return Row({}, self.changes)
        if isinstance(value, dict):
            return Row(value, self.changes)
        raise LeftOut("malformed")

    def charges(self) -> Iterator[str]:
        """The names of the positive numbers directly in the row, for those that are looked at by name alone."""
        for name, value in self.values.items():
            if is_number(value) and value > 0:
                yield name
