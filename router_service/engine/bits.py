"""Sets of endpoints as bitsets (Python integers; bit i is the endpoint at position i), and sorted prefix sets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from router_service.engine.cache import Bounded

# Prefix sets of a fact with many distinct values would need values × endpoints / 8 bytes: a full set is kept every so
# many values only, and the few between are added when asked. 64 keeps 20,000 distinct values under 1 MB.
_STRIDE = 64


def bitset(positions: Iterable[int], size: int) -> int:
    """The set of `positions`, all below `size`."""
    flags = bytearray((size + 7) // 8)
    for position in positions:
        flags[position >> 3] |= 1 << (position & 7)
    return int.from_bytes(flags, "little")


def positions(bits: int) -> Iterator[int]:
    """The positions in a bitset, lowest first. Linear in its size; taking bits off an integer would be quadratic."""
    for base, byte in enumerate(bits.to_bytes((bits.bit_length() + 7) // 8, "little")):
        left = byte
        while left:
            low = left & -left
            yield (base << 3) + low.bit_length() - 1
            left ^= low


class PrefixSets:
    """For a numeric fact: which endpoints document a value below, or at most, a limit."""

    __slots__ = ("_joined", "_marks", "_positions", "_size", "documented", "values")

    def __init__(self, facts: Iterable[tuple[int, int]], size: int) -> None:
        """`facts` are pairs (value, position) of the endpoints that document the fact. To be compiled before use."""
        ordered = sorted(facts)
        self.values = [value for value, _ in ordered]
        self._positions = [position for _, position in ordered]
        self._size = size
        self._marks = [0]
        self.documented = 0
        self._joined: Bounded[int, int] = Bounded(128)

    def compile(self) -> Iterator[None]:
        """Makes the sets, slice by slice."""
        for start in range(0, len(self._positions), _STRIDE):
            self._marks.append(self._marks[-1] | bitset(self._positions[start : start + _STRIDE], self._size))
            if len(self._marks) % _STRIDE == 0:
                yield
        self.documented = self._marks[-1]
        yield

    def below(self, limit: int) -> int:
        """The endpoints whose value is < limit."""
        return self._first(bisect_left(self.values, limit))

    def at_most(self, limit: int) -> int:
        """The endpoints whose value is ≤ limit."""
        return self._first(bisect_right(self.values, limit))

    def above(self, limit: int) -> int:
        """The endpoints whose value is > limit."""
        return self.documented ^ self.at_most(limit)

    def _first(self, count: int) -> int:
        """The `count` endpoints with the lowest values."""
        mark, rest = divmod(count, _STRIDE)
        if not rest:
            return self._marks[mark]
        if count == len(self.values):
            return self.documented
        bits = self._joined.get(count)
        if bits is None:
            bits = self._marks[mark]
            for position in self._positions[count - rest : count]:
                bits |= 1 << position
            self._joined[count] = bits
        return bits
