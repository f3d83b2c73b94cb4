"""Circuit: whether an endpoint is left out, and what it takes to come back (docs/reliability.md, Circuits).

closed → open → half-open → closed. Half-open is not stored: an open circuit is half-open once its time is over. All
functions are pure; instants and times are ms.
"""

from __future__ import annotations

import msgspec

from router_service.domain.thresholds import Thresholds
from router_service.health.effects import FAILURE, INVALID, SUCCESS
from router_service.health.observation import Observation
from router_service.health.span import Span
from router_service.health.window import BUCKET_MS, Bucket, Run, Window, counted, total

CLOSED = "closed"
OPEN = "open"
HALF_OPEN = "half_open"
PHASES = (CLOSED, OPEN, HALF_OPEN)


class Place(msgspec.Struct, frozen=True, array_like=True):
    """What a decision holds that lists a half-open endpoint, until its report or the span's end."""

    trace_id: str
    span: Span


class Circuit(msgspec.Struct, frozen=True, omit_defaults=True):
    """One endpoint's circuit; `opened` None is closed. While it is not, nothing but `places` and `good` changes.

    `good` are the decisions whose probes were good, one after the other: two attempts of one decision are one probe.
    `closed_at` is when it closed last, so that decisions from before do not open it again.
    """

    opened: Span | None = None
    places: tuple[Place, ...] = ()
    good: tuple[str, ...] = ()
    closed_at: int = 0
    failures: Run = Run()
    invalid: Run = Run()
    window: Window = ()


def phase(circuit: Circuit, now: int) -> str:
    """CLOSED, OPEN or HALF_OPEN."""
    if circuit.opened is None:
        return CLOSED
    return OPEN if circuit.opened.is_running(now) else HALF_OPEN


def turn(before: Circuit, after: Circuit) -> str:
    """What a change made of the circuit: OPEN, anew or again, or CLOSED; empty where it stayed as it was."""
    if after.opened is None:
        return "" if before.opened is None else CLOSED
    # Only a place that is taken under a clock that was set back brings its end nearer.
    return OPEN if before.opened is None or after.opened.until > before.opened.until else ""


def held(circuit: Circuit, now: int) -> tuple[Place, ...]:
    """The places that are taken now."""
    return tuple(place for place in circuit.places if place.span.is_running(now))


def free_at(circuit: Circuit, now: int, thresholds: Thresholds) -> int | None:
    """From when a decision may list the endpoint; None is now."""
    if circuit.opened is None:
        return None
    if circuit.opened.is_running(now):
        return circuit.opened.until
    ends = sorted(place.span.until for place in held(circuit, now))
    # Where a new configuration allows fewer places than are taken, several have to come back first.
    return ends[len(ends) - thresholds.probes] if len(ends) >= thresholds.probes else None


def with_place(circuit: Circuit, trace_id: str, now: int, thresholds: Thresholds) -> Circuit | None:
    """The circuit with a place for a decision made at `now`; None where none is free.

    A closed circuit needs none, and a decision that holds one keeps it as it is: in both cases nothing changes.
    """
    taken = held(circuit, now)
    if circuit.opened is None or any(place.trace_id == trace_id for place in taken):
        return circuit
    if free_at(circuit, now, thresholds) is not None:
        return None
    # A clock that was set back may stand before the end of the time that counts as over: this decision's probe must
    # be known by `decided_at` all the same.
    opened = Span(min(circuit.opened.until, now), circuit.opened.length)
    place = Place(trace_id, Span(now + thresholds.probe_ms, thresholds.probe_ms))
    return msgspec.structs.replace(circuit, opened=opened, places=(*taken, place))


def without_place(circuit: Circuit, trace_id: str) -> Circuit:
    """The circuit with the decision's place free again."""
    left = tuple(place for place in circuit.places if place.trace_id != trace_id)
    return circuit if len(left) == len(circuit.places) else msgspec.structs.replace(circuit, places=left)


def judged(circuit: Circuit, seen: Observation, now: int, thresholds: Thresholds) -> Circuit:
    """The circuit after a reported attempt, which frees its decision's place whatever its effect."""
    holds_place = any(place.trace_id == seen.trace_id for place in circuit.places)
    circuit = without_place(circuit, seen.trace_id)
    if seen.effect not in (SUCCESS, FAILURE, INVALID):
        return circuit
    if circuit.opened is None:
        return _while_closed(circuit, seen, now, thresholds)
    # Only what was decided on a half-open circuit is a probe. Its place may have run out by then: a slow endpoint has
    # to be able to come back.
    if holds_place or seen.decided_at >= circuit.opened.until:
        return _probed(circuit, circuit.opened, seen, now, thresholds)
    return circuit


def _probed(circuit: Circuit, opened: Span, seen: Observation, now: int, thresholds: Thresholds) -> Circuit:
    if seen.effect != SUCCESS:
        return _open(now, min(2 * opened.length, thresholds.open_max_ms))
    good = circuit.good if seen.trace_id in circuit.good else (*circuit.good, seen.trace_id)
    return (
        Circuit(closed_at=now) if len(good) >= thresholds.good_probes else msgspec.structs.replace(circuit, good=good)
    )


def _open(now: int, length: int) -> Circuit:
    return Circuit(opened=Span(now + length, length))


def _while_closed(circuit: Circuit, seen: Observation, now: int, thresholds: Thresholds) -> Circuit:
    closed_at = min(circuit.closed_at, now)
    if seen.decided_at < closed_at:
        return circuit
    effect, at, place = seen.effect, seen.at, seen.place
    failures, invalid = circuit.failures, circuit.invalid
    if effect == FAILURE:  # says nothing of what an answer would have been worth
        failures = failures.with_bad(place, now, thresholds.failures_in_row)
    elif effect == INVALID:  # an answer all the same
        failures = failures.with_good(place, now)
        invalid = invalid.with_bad(place, now, thresholds.invalid_in_row)
    else:
        failures, invalid = failures.with_good(place, now), invalid.with_good(place, now)
    bucket = Bucket(at // BUCKET_MS, 1, int(effect == FAILURE), int(effect == INVALID))
    window = counted(circuit.window, now, thresholds.window_ms, bucket)
    if _is_too_much(failures, invalid, total(window), thresholds):
        return _open(now, thresholds.open_ms)
    return Circuit(closed_at=closed_at, failures=failures, invalid=invalid, window=window)


def _is_too_much(failures: Run, invalid: Run, recent: Bucket, thresholds: Thresholds) -> bool:
    return (
        len(failures.bad) >= thresholds.failures_in_row
        or len(invalid.bad) >= thresholds.invalid_in_row
        or _is_share(recent.failures, recent.attempts, thresholds.failure_share, thresholds.least_attempts)
        or _is_share(recent.invalid, recent.attempts, thresholds.invalid_share, thresholds.invalid_least)
    )


def _is_share(bad: int, attempts: int, share: float, least: int) -> bool:
    """Whether enough attempts reach the share; a quotient, since 0.55 × 20 is a little more than 11 in binary."""
    return attempts >= least and bad / attempts >= share
