"""What is wrong with a configuration: every problem with its line, its place and its cure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from router_openai_proxy.config.marks import Path


class Problem(NamedTuple):
    """One thing that is wrong at one place of the file, and how to cure it."""

    line: int
    place: str
    what: str


class BadConfig(Exception):
    """The configuration cannot be used; the text has a line for each problem."""

    def __init__(self, name: str, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        lines = [f"{name}:{one.line}: {one.place + ': ' if one.place else ''}{one.what}" for one in self.problems]
        count = len(lines)
        super().__init__("\n".join([*lines, f"{count} problem{'s' * (count != 1)}"]))


def written(path: Path) -> str:
    """A place as people write it: `backends[0].base_url`."""
    text = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path)
    return text.removeprefix(".")
