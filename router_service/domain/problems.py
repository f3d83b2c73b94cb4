"""What is wrong with a value: every problem at once, each with its place and its cure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

TEXT_LENGTH, LIST_LENGTH, CANDIDATES, PAGE_SIZE = "text_length", "list_length", "candidates", "page_size"
"""The limits that a value may be beyond."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong: `field` is its place inside the value (`regions[2]`), `cure` what to write instead.

    `limit` names the limit that the value is beyond, if that is what is wrong.
    """

    field: str
    message: str
    cure: str
    limit: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {self.message}; {self.cure}" if self.field else f"{self.message}; {self.cure}"

    def under(self, place: str) -> Problem:
        """The same problem seen from outside: its field prefixed with `place`."""
        joint = "" if not self.field or self.field.startswith("[") else "."
        return Problem(f"{place}{joint}{self.field}", self.message, self.cure, self.limit)


class InvalidValue(ValueError):
    """A value that cannot be: carries all of its problems, in the order of its fields."""

    def __init__(self, what: str, problems: Iterable[Problem]) -> None:
        self.what = what
        self.problems = tuple(problems)
        super().__init__(f"{what}: " + " | ".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[InvalidValue], tuple[str, tuple[Problem, ...]]]:
        return type(self), (self.what, self.problems)
