"""Until when traces need the bodies that are kept by version: catalogues, and figures where a trace names them."""

from __future__ import annotations

from collections.abc import Iterable

from router_service.store.interface import Trace


def needed_until(traces: Iterable[Trace]) -> dict[str, int]:
    """By version, when the last of the traces expires (ms)."""
    needed: dict[str, int] = {}
    for trace in traces:
        for version in (trace.catalog_version, trace.figures) if trace.figures else (trace.catalog_version,):
            needed[version] = max(needed.get(version, 0), trace.expires_at)
    return needed
