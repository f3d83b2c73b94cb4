"""The values that a label may take: few, and the catalogue's own, whatever callers and reports name."""

from __future__ import annotations

from collections.abc import Container

OTHER = "(other)"


class Values:
    """The names that a label shows: the first `most` that came of those that the catalogue has.

    All else is OTHER. A name that the catalogue no longer has gives its place back.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: Container[str] = ()
        self._shown: set[str] = set()

    def of(self, name: str) -> str:
        """What the label says for a name."""
        if name in self._shown:
            return name
        if name not in self._known or len(self._shown) >= self._most:
            return OTHER
        self._shown.add(name)
        return name

    def has(self, label: str) -> bool:
        """Whether the label may say so now."""
        return label in self._shown or label == OTHER

    def serve(self, known: Container[str]) -> None:
        """The catalogue has these names from now on."""
        self._known = known
        self._shown = {name for name in self._shown if name in known}
