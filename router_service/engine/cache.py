"""A small bounded memory: what is remembered changes nothing that can be seen, and never grows without end."""

from __future__ import annotations

from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Bounded(dict[Key, Value], Generic[Key, Value]):
    """A dict of at most `most` entries; the oldest goes when one more comes.

    It lives inside an index and dies with it, so it can never answer for another snapshot.
    """

    __slots__ = ("_most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        if len(self) >= self._most and key not in self:
            del self[next(iter(self))]
        super().__setitem__(key, value)
