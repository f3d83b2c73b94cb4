"""Events: what changes an endpoint's health, each with the instant (ms) at which this instance learned of it."""

from __future__ import annotations

import msgspec

from router_service.domain.thresholds import Thresholds
from router_service.health.observation import Observation
from router_service.health.state import Health, observe, release, set_by_hand, take_place


class Seen(msgspec.Struct, frozen=True):
    """An attempt was reported."""

    observation: Observation
    now: int


class Took(msgspec.Struct, frozen=True):
    """A decision took a place to list the endpoint while it is half-open."""

    trace_id: str
    now: int


class Left(msgspec.Struct, frozen=True):
    """A decision gave its place back without an attempt."""

    trace_id: str
    now: int


class Set(msgspec.Struct, frozen=True):
    """Somebody set a status."""

    status: str
    reason: str
    now: int


class Again(msgspec.Struct, frozen=True):
    """Nothing happened: what is known is to be written again, should the store have lost it."""

    now: int


Event = Seen | Took | Left | Set | Again


def not_before(event: Event, instant: int) -> Event:
    """The event as learned of no earlier than that: what others told until then must not be read as of before."""
    later = event.now >= instant or isinstance(event, Set)
    return event if later else msgspec.structs.replace(event, now=instant)


def after(health: Health, event: Event, thresholds: Thresholds) -> Health | None:
    """The health after an event; None where it can have no effect: all places are taken."""
    match event:
        case Seen(observation, now):
            return observe(health, observation, now, thresholds)
        case Took(trace_id, now):
            return take_place(health, trace_id, now, thresholds)
        case Left(trace_id, _):
            return release(health, trace_id)
        case Set(status, reason, now):
            return set_by_hand(health, status, reason, now)
        case Again():
            return health
