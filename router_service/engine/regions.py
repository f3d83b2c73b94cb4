"""What two lists of regions have in common, as one list: requests have one, and no entry says "DE and fr-*"."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

from router_service.domain.text import fold
from router_service.engine.bits import positions
from router_service.engine.index import Index


def common_regions(index: Index, ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...] | None:
    """The entries that match just what both lists match; empty where that is nothing, None where no entries do.

    A list that lies within the other is given as it is. Otherwise entries of both are taken as far as they lie within
    both, then region ids and countries of the endpoints that are left. Countries and region ids overlap freely, so
    this is known only of the endpoints of an index.
    """
    in_ours, in_theirs = _matched(index, ours), _matched(index, theirs)
    both = in_ours & in_theirs
    if both == in_theirs or set(map(fold, ours)) == set(map(fold, theirs)):
        return theirs
    if both == in_ours:
        return ours
    chosen, left = [], both
    for entry in (*theirs, *ours, *_places(index, both)):
        matched = index.in_region(entry)
        if matched & left and not matched & ~both:
            chosen.append(entry)
            left &= ~matched
    return None if left else tuple(chosen)


def _matched(index: Index, entries: Iterable[str]) -> int:
    return reduce(or_, map(index.in_region, entries), 0)


def _places(index: Index, among: int) -> Iterable[str]:
    """The region ids, then the countries, of the endpoints in a set; each once."""
    endpoints = [index.endpoints[position] for position in positions(among)]
    return dict.fromkeys(one for one in (*(e.region for e in endpoints), *(e.country for e in endpoints)) if one)
