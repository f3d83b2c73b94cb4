"""Generators that do long work bit by bit and return what they made."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

_Made = TypeVar("_Made")


def made_of(slices: Generator[None, None, _Made]) -> _Made:
    """What the work makes, done in one go by whoever has nothing else to do between."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            made: _Made = end.value
            return made
