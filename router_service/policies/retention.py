"""How long traces are kept (docs/reliability.md, Traces)."""

from __future__ import annotations

from router_service.domain.policy import DEFAULT_RETENTION

_UNITS_MS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
# How long a decision may wait for its report: then its reservation settles, and a trace that is not kept goes.
REPORT_WINDOW_MS = 15 * 60_000


def retention_ms(retention: str) -> int:
    """Milliseconds of `30d`; empty is the default, `0` is none."""
    text = retention or DEFAULT_RETENTION
    return 0 if text == "0" else int(text[:-1]) * _UNITS_MS[text[-1]]
