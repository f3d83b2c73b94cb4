"""Entries with `*`: the only wildcard, for any run of characters, matched in linear time whatever is asked."""

from __future__ import annotations

from collections.abc import Callable

from router_service.domain.text import fold

WILDCARD = "*"


def matcher(entry: str) -> Callable[[str], bool]:
    """A test of folded names against an entry. An empty name (undocumented) matches nothing, `*` included.

    The parts between wildcards are found leftmost first, which is enough where `*` is the only wildcard and, unlike
    a regular expression, cannot be made slow by an entry such as `*a*a*a*b`.
    """
    first, *parts = fold(entry).split(WILDCARD)
    if not parts:
        return lambda name: bool(name) and name == first
    *middle, last = parts

    def matches(name: str) -> bool:
        if not name or len(name) < len(first) + len(last):
            return False
        if not (name.startswith(first) and name.endswith(last)):
            return False
        at, end = len(first), len(name) - len(last)
        for part in middle:
            found = name.find(part, at, end)
            if found < 0:
                return False
            at = found + len(part)
        return True

    return matches
