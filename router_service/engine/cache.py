"""A small bounded memory: what is remembered changes nothing that can be seen, and never grows without end."""

from __future__ import annotations

from itertools import islice
from typing import Generic, TypeVar

_SHARE = 16  # of the entries, that go at once
Key = TypeVar("Key")
Value = TypeVar("Value")


class Bounded(dict[Key, Value], Generic[Key, Value]):
    """A dict of at most `most` entries; the oldest go when one more comes.

    They go by the dozen: a dict finds its first entry by walking over all that were taken out before it.

    It lives inside an index and dies with it, so it can never answer for another snapshot.
    """

    __slots__ = ("_most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        if len(self) >= self._most and key not in self:
            for oldest in [*islice(self, max(1, self._most // _SHARE))]:
                del self[oldest]
        super().__setitem__(key, value)
