"""Metrics of several workers as those of one instance: counters add up, gauges by what they mean.

What workers counted that have ended goes on counting, so no counter falls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

GAUGES: dict[str, Callable[[Iterable[float]], float]] = {
    # One instance's own, known alike by all of its workers.
    "router_build_info": max,
    "router_budget_limit": max,
    "router_budget_reserved": max,
    "router_budget_spent": max,
    "router_budgets_asked_timestamp_seconds": max,
    "router_callers": max,
    "router_catalog_endpoints": max,
    "router_catalog_rejected": max,
    "router_catalog_version": max,
    "router_circuit_state": max,
    "router_circuits": max,
    "router_identity_rejected": max,
    "router_serving": max,
    "router_store_lost": max,
    "router_suppressed_endpoints": max,
    # The worst of them.
    "process_max_fds": min,
    "process_open_fds": max,
    "router_connections_of_one_address": max,
    "process_start_time_seconds": min,
    "router_catalog_loaded_timestamp_seconds": min,
    "router_tls_certificate_expiry_timestamp_seconds": min,
    # Each has some of it.
    "process_resident_memory_bytes": sum,
    "process_virtual_memory_bytes": sum,
    "router_calls_arriving": sum,
    "router_calls_beside": sum,
    "router_calls_under_way": sum,
    "router_connections": sum,
    "router_connections_max": sum,
    "router_streams_open": sum,
    "router_unsent_bytes": sum,
}
RETIRED_MAX = 30_000
"""How many rows of ended workers are kept: twice what one has at the most (docs/metrics.md, Labels)."""
_ADDED = ("counter", "histogram")


@dataclass(slots=True)
class Family:
    """One metric of a page: its lines of HELP and TYPE, and its values by series."""

    kind: str
    head: str
    values: dict[str, float] = field(default_factory=dict)


Pages = dict[str, Family]


def read(page: str) -> Pages:
    """The metrics of a page in Prometheus' text form, by name."""
    families: Pages = {}
    about, last = "", Family("", "")
    for line in page.splitlines():
        if line.startswith("# HELP "):
            about = line
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ", 3)
            last = families.setdefault(name, Family(kind, f"{about}\n{line}\n"))
        elif line:
            series, _, value = line.rpartition(" ")
            last.values[series] = float(value)
    return families


class Retired:
    """What workers counted that have ended."""

    def __init__(self) -> None:
        self._families: Pages = {}
        self._rows = 0

    def add(self, page: Pages) -> None:
        """One more has ended; `page` is what it told last."""
        for name, family in page.items():
            if family.kind in _ADDED:
                kept = self._families.setdefault(name, Family(family.kind, family.head)).values
                for series, value in family.values.items():
                    if series in kept or self._rows < RETIRED_MAX:
                        self._rows += series not in kept
                        kept[series] = kept.get(series, 0.0) + value

    def page(self) -> Pages:
        """All of it, to be added up with those of workers that live."""
        return self._families


def merged(pages: Iterable[Pages], own: str) -> Iterator[str]:
    """The text of all together; `own` is what the supervisor itself tells, in place of what workers say of the same."""
    told = read(own)
    heads: dict[str, Family] = {}
    values: dict[str, dict[str, list[float]]] = {}
    for page in pages:
        for name, family in page.items():
            if name not in told:
                heads.setdefault(name, family)
                rows = values.setdefault(name, {})
                for series, value in family.values.items():
                    rows.setdefault(series, []).append(value)
    for name, family in heads.items():
        together = sum if family.kind in _ADDED else GAUGES.get(name, max)
        yield family.head
        yield from (f"{series} {together(found)!r}\n" for series, found in values[name].items())
    yield own
