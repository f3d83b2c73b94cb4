"""Endpoints by two numbers: where a sum that grows with both is above a limit, without adding it up for each.

Rule 20 asks this of slowness and latency, rule 19 of input and output price; what both are multiplied by comes with
the request, so no order made before can answer it alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

from router_service.engine.bits import bitset

_First = TypeVar("_First")
_CHUNKS = 128  # more make each narrower, and more of them to look at
_LEAST = 16  # endpoints of a chunk
_AT_ONCE = 16  # chunks made in a slice


class _Chunk(NamedTuple, Generic[_First]):
    """Endpoints whose first numbers lie side by side, by their second: `lowest` and `highest` are of the first."""

    lowest: _First
    highest: _First
    seconds: list[int]
    firsts: list[_First]
    positions: list[int]


class Plane(Generic[_First]):
    """Points (first number, second number, position). To be compiled before use."""

    def __init__(self, points: Sequence[tuple[_First, int, int]], size: int) -> None:
        """`points` stand in the order of their first numbers; `size` is that of the sets."""
        self._points, self._size = points, size
        self._chunks: list[_Chunk[_First]] = []
        self._upto = [0]
        self._chunk_of: dict[int, int] = {}

    def compile(self) -> Iterator[None]:
        """Cuts the points into chunks, slice by slice."""
        length = max(_LEAST, -(-len(self._points) // _CHUNKS))
        for start in range(0, len(self._points), length):
            points = self._points[start : start + length]
            number = len(self._chunks)
            self._chunks.append(_chunk(points))
            self._upto.append(self._upto[-1] | bitset((point[2] for point in points), self._size))
            self._chunk_of.update((point[2], number) for point in points)
            if number % _AT_ONCE == 0:
                yield
        self._points = ()
        self._settle()

    def overlaid(self, seconds: Mapping[int, int]) -> Generator[None, None, Plane[_First]]:
        """The same with other second numbers at some positions: a generator that returns it."""
        other: Plane[_First] = Plane.__new__(Plane)
        other.__dict__.update(self.__dict__)
        other._chunks = self._chunks.copy()
        for number, index in enumerate(sorted({self._chunk_of[position] for position in seconds})):
            chunk = self._chunks[index]
            points = zip(chunk.firsts, chunk.seconds, chunk.positions, strict=True)
            changed = [(first, seconds.get(position, second), position) for first, second, position in points]
            other._chunks[index] = _chunk(changed, chunk.lowest, chunk.highest)
            if number % _AT_ONCE == 0:
                yield
        other._settle()
        return other

    def _settle(self) -> None:
        self._lowest = [chunk.lowest for chunk in self._chunks]
        self._highest = [chunk.highest for chunk in self._chunks]
        self._least = min((chunk.seconds[0] for chunk in self._chunks), default=0)
        self._most = max((chunk.seconds[-1] for chunk in self._chunks), default=0)

    def above(self, value: Callable[[_First], int], limit: int, scale: int = 1) -> int:
        """The endpoints at which value(first) + scale × second > limit.

        `value` never falls along the order of the first numbers; `scale` is not negative.
        """
        # From `sure` on every endpoint is above, before `begin` none is, whatever its second number.
        sure = bisect_right(self._lowest, limit - scale * self._least, key=value)
        begin = bisect_right(self._highest, limit - scale * self._most, key=value)
        beyond: list[int] = []
        for chunk in self._chunks[begin:sure]:
            certain = _reached(chunk.seconds, limit - value(chunk.lowest), scale)
            beyond += chunk.positions[certain:]
            for at in range(_reached(chunk.seconds, limit - value(chunk.highest), scale), certain):
                if value(chunk.firsts[at]) + scale * chunk.seconds[at] > limit:
                    beyond.append(chunk.positions[at])
        return self._upto[-1] ^ self._upto[sure] | bitset(beyond, self._size)


def _chunk(
    points: Sequence[tuple[_First, int, int]], lowest: _First | None = None, highest: _First | None = None
) -> _Chunk[_First]:
    ordered = sorted(points, key=itemgetter(1, 2))
    return _Chunk(
        points[0][0] if lowest is None else lowest,
        points[-1][0] if highest is None else highest,
        [second for _, second, _ in ordered],
        [first for first, _, _ in ordered],
        [position for _, _, position in ordered],
    )


def _reached(seconds: Sequence[int], left: int, scale: int) -> int:
    """How many of the second numbers, times `scale`, are at most `left`."""
    if scale:
        return bisect_right(seconds, left // scale)
    return len(seconds) if left >= 0 else 0
