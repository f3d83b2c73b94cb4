"""Positions in the order of a number, in blocks: members of a set are found without looking at all that are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from router_service.engine.bits import bitset

_BLOCK = 64


class Members:
    """A set that is asked for single positions, which on the bitset itself would cost its whole length."""

    __slots__ = ("_bytes", "bits")

    def __init__(self, bits: int, size: int) -> None:
        self.bits = bits
        self._bytes = bits.to_bytes((size + 7) // 8, "little")

    def of(self, positions: Iterable[int]) -> list[int]:
        """Those of `positions` that are in the set, in their order."""
        flags = self._bytes
        return [one for one in positions if flags[one >> 3] >> (one & 7) & 1]

    def first(self, positions: Iterable[int]) -> int:
        """The first of `positions` that is in the set; there must be one."""
        flags = self._bytes
        return next(one for one in positions if flags[one >> 3] >> (one & 7) & 1)


class Ordered:
    """An order of positions, the same for every set."""

    def __init__(self, order: Sequence[int], size: int) -> None:
        cuts = (order[start : start + _BLOCK] for start in range(0, len(order), _BLOCK))
        self._blocks = [(bitset(block, size), block) for block in cuts]

    def first(self, members: Members) -> int | None:
        """The first position of the order that is in a set."""
        bits = members.bits
        return next((members.first(block) for inside, block in self._blocks if inside & bits), None)

    def last(self, members: Members) -> int | None:
        """The last one."""
        bits = members.bits
        return next((members.first(reversed(block)) for inside, block in reversed(self._blocks) if inside & bits), None)

    def walk(self, members: Members) -> Iterator[int]:
        """All of a set in this order."""
        bits = members.bits
        for inside, block in self._blocks:
            if inside & bits:
                yield from members.of(block)
