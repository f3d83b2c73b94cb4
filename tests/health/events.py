"""Short ways to say what happened to an endpoint."""

from __future__ import annotations

from itertools import count
from typing import Any

from router_service.domain.report import ReportedAttempt
from router_service.domain.thresholds import Thresholds
from router_service.health.observation import Observation
from router_service.health.state import Health, observe, take_place

NOW = 1_800_000_000_000
SECOND = 1000
MINUTE = 60 * SECOND
DEFAULTS = Thresholds()
_TRACES = count()  # each effect is of a decision of its own


def attempt(failure_class: str = "", status_code: int | None = None, **fields: Any) -> ReportedAttempt:
    """A reported attempt of a failure class (empty is a success)."""
    return ReportedAttempt(
        attempt_id="1", endpoint_id="e", failure_class=failure_class, status_code=status_code, **fields
    )


def seen(effect: str, now: int, **fields: Any) -> Observation:
    """An attempt that was decided, made and reported in the same millisecond, unless said otherwise."""
    return Observation(**({"trace_id": "t", "decided_at": now, "effect": effect, "at": now} | fields))


def after(effects: str, now: int = NOW, thresholds: Thresholds = DEFAULTS, health: Health | None = None) -> Health:
    """The health after these effects ("failure success …"), all reported at `now`."""
    health = health or Health()
    for effect in effects.split():
        health = observe(health, seen(effect, now, trace_id=f"t{next(_TRACES)}"), now, thresholds)
    return health


def taken(health: Health, trace_id: str, now: int, thresholds: Thresholds = DEFAULTS) -> Health:
    """The health with a place that must be free."""
    with_place = take_place(health, trace_id, now, thresholds)
    assert with_place is not None
    return with_place
