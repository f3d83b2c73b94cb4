"""State: everything known of one endpoint's health, and how each event changes it (docs/reliability.md, Circuits).

All functions are pure; instants and times are ms. `now` may step back: what was noted of a later instant is then read
as of now, and what would be shut for more than twice its time is open.
"""

from __future__ import annotations

import msgspec

from router_service.domain.thresholds import Thresholds
from router_service.health import circuit as circuits
from router_service.health.circuit import Circuit
from router_service.health.effects import FAILURE, INVALID, SUCCESS
from router_service.health.figures import Figure, shown_latency, shown_rate
from router_service.health.observation import Observation
from router_service.health.span import Span, later


class ByHand(msgspec.Struct, frozen=True):
    """A status that somebody set, why, and since when."""

    status: str
    reason: str = ""
    since: int = 0


class Health(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One endpoint's health. `reported_at` is when something was last reported of it, None where nothing was."""

    circuit: Circuit = Circuit()
    suppressed: Span | None = None
    latency: Figure = Figure()
    errors: Figure = Figure()
    reported_at: int | None = None
    by_hand: ByHand | None = None


def observe(health: Health, observation: Observation, now: int, thresholds: Thresholds) -> Health:
    """The health after a report. The caller sees to it that no attempt comes twice."""
    known, seen = _remembered(health, now, thresholds), observation.by(now)
    latency, errors = known.latency, known.errors
    if seen.effect == SUCCESS and seen.latency_ms is not None:
        latency = latency.with_observation(seen.latency_ms, seen.at, now, thresholds)
    if seen.effect in (SUCCESS, INVALID, FAILURE):
        errors = errors.with_observation(float(seen.effect == FAILURE), seen.at, now, thresholds)
    pause = Span(seen.at + seen.suppress_for_ms, seen.suppress_for_ms)
    return Health(
        circuit=circuits.judged(known.circuit, seen, now, thresholds),
        suppressed=later(known.suppressed, pause, now),
        latency=latency,
        errors=errors,
        reported_at=now,
        by_hand=known.by_hand,
    )


def take_place(health: Health, trace_id: str, now: int, thresholds: Thresholds) -> Health | None:
    """The health with a place for the decision made at `now` that lists the endpoint; None where none is free.

    Where the circuit is closed, or the decision holds a place, nothing changes.
    """
    circuit = circuits.with_place(health.circuit, trace_id, now, thresholds)
    return None if circuit is None else _with_circuit(health, circuit)


def release(health: Health, trace_id: str) -> Health:
    """The health without the decision's place: it was reported, and did not attempt the endpoint."""
    return _with_circuit(health, circuits.without_place(health.circuit, trace_id))


def _with_circuit(health: Health, circuit: Circuit) -> Health:
    """The very same value where nothing changed, so that nothing needs to be written."""
    return health if circuit is health.circuit else msgspec.structs.replace(health, circuit=circuit)


def set_by_hand(health: Health, status: str, reason: str, now: int) -> Health:
    """The health with a status set by hand; empty gives it back to the catalogue.

    The same status again keeps the instant since which it holds.
    """
    before, by_hand = health.by_hand, ByHand(status, reason, now) if status else None
    if by_hand and before and before.status == status:
        by_hand = ByHand(status, reason, min(before.since, now))
    return msgspec.structs.replace(health, by_hand=by_hand)


def phase(health: Health, now: int) -> str:
    """The circuit's: `closed`, `open` or `half_open`."""
    return circuits.phase(health.circuit, now)


def must_take_place(health: Health, now: int) -> bool:
    """Whether a decision that lists the endpoint must take a place."""
    return phase(health, now) == circuits.HALF_OPEN


def blocked_until(health: Health, now: int, thresholds: Thresholds) -> int | None:
    """Until when no decision may list the endpoint, always after `now`; None where one may."""
    free_at, paused = circuits.free_at(health.circuit, now, thresholds), later(health.suppressed, None, now)
    if paused is None:
        return free_at
    return paused.until if free_at is None else max(paused.until, free_at)


def observed(health: Health, now: int, thresholds: Thresholds) -> tuple[int | None, float | None]:
    """The observed latency to the first token (ms) and the error rate (0 to 1).

    Each is None until there is enough of it, and once nothing was observed of it for long.
    """
    return (
        shown_latency(health.latency.told(now, thresholds)),
        shown_rate(health.errors.told(now, thresholds)),
    )


def is_idle(health: Health, now: int, thresholds: Thresholds) -> bool:
    """Whether it says nothing any more: to forget it changes nothing that is decided, now or later."""
    return (
        health.by_hand is None
        and health.circuit.opened is None
        and later(health.suppressed, None, now) is None
        and _is_silent(health, now, thresholds)
    )


def _is_silent(health: Health, now: int, thresholds: Thresholds) -> bool:
    return health.reported_at is None or abs(now - health.reported_at) >= thresholds.forget_ms


def _remembered(health: Health, now: int, thresholds: Thresholds) -> Health:
    """What still counts when something is reported: after a long silence all begins anew but what is shut or set."""
    if not _is_silent(health, now, thresholds):
        return health
    circuit = Circuit() if health.circuit.opened is None else health.circuit
    return Health(circuit=circuit, suppressed=health.suppressed, by_hand=health.by_hand)
