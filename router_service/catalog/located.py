"""Problems with their file and line, and the error that carries every one of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from router_service.domain.problems import Problem


@dataclass(frozen=True, slots=True)
class Located:
    """A problem or a warning where it was written. Line 0: it is about the file, or the folder, as a whole."""

    file: str
    line: int
    problem: Problem

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        text = f"{where}: {self.problem}"
        # What a file says is quoted, and must not break a line of a log or command a terminal.
        return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


class CatalogInvalid(ValueError):
    """Files that make no catalogue: carries every problem of every file, in the order of files and lines."""

    def __init__(self, problems: Iterable[Located]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def in_order(found: Iterable[Located], files: Iterable[str]) -> tuple[Located, ...]:
    """Each problem once, by file (those about the whole first) and line."""
    rank = {file: number for number, file in enumerate(files)}
    return tuple(sorted(dict.fromkeys(found), key=lambda one: (rank.get(one.file, -1), one.line)))
