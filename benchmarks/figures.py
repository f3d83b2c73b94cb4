"""Figures as tables: medians, ratios, and whether a goal is met."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """The results of one benchmark as Markdown."""

    title: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """Heading and body."""
        return "\n".join((f"## {self.title}", "", *self.lines)).rstrip() + "\n"


def median(values: Iterable[float]) -> float:
    """The middle one."""
    return statistics.median(values)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The median with the least and the greatest, so that noise shows."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table."""
    return [
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def at_least(value: float, goal: float) -> str:
    """The goal and whether it is met."""
    return f"≥ {goal:g}: {'met' if value >= goal else 'not met'}"


def at_most(value: float, goal: float) -> str:
    """The goal and whether it is met."""
    return f"≤ {goal:g}: {'met' if value <= goal else 'not met'}"
