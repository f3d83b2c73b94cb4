"""What is wrong with a value: every problem at once, each with its place and its cure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong: `field` is its place inside the value (`regions[2]`), `cure` what to write instead."""

    field: str
    message: str
    cure: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}; {self.cure}" if self.field else f"{self.message}; {self.cure}"

    def under(self, place: str) -> Problem:
        """The same problem seen from outside: its field prefixed with `place`."""
        joint = "" if not self.field or self.field.startswith("[") else "."
        return Problem(f"{place}{joint}{self.field}", self.message, self.cure)


class InvalidValue(ValueError):
    """A value that cannot be: carries all of its problems, in the order of its fields."""

    def __init__(self, what: str, problems: Iterable[Problem]) -> None:
        self.what = what
        self.problems = tuple(problems)
        super().__init__(f"{what}: " + " | ".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[InvalidValue], tuple[str, tuple[Problem, ...]]]:
        return type(self), (self.what, self.problems)
