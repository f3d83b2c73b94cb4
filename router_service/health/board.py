"""Board: what one instance knows of every endpoint's health, and what follows from it for its decisions.

Each endpoint's state is what the instances share plus the events that this one has not shared yet, in their order.
Whatever is learned from others goes under those events, so that nothing is lost and nothing counts twice. No clock and
no store: `now` is given, instants are ms (docs/reliability.md, Circuits and Shared health).
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable

import msgspec

from router_service.domain.decision import Decision, Refusal
from router_service.domain.overlay import Difference, Overlay
from router_service.domain.thresholds import Thresholds
from router_service.engine.held import NOTHING, Held, held
from router_service.engine.index import Index
from router_service.health.circuit import HALF_OPEN
from router_service.health.events import Event, Left, Seen, Set, Took, after
from router_service.health.observation import Observation
from router_service.health.span import later
from router_service.health.state import Health, blocked_until, decode, encode, is_idle, observed, phase
from router_service.store.interface import State

_AT_ONCE = 32  # endpoints looked at in one slice
_REST_MS = 1000  # for how long what is held holds where nothing says that it ends earlier
# While the store is lost the oldest events are no longer told apart from what is shared.
_EVENTS_MAX = 1024
UNKNOWN = Health()


class _Entry:
    """One endpoint: what is shared, in which version, the events that are not, and what all of it makes."""

    __slots__ = ("events", "health", "shared", "version")

    def __init__(self) -> None:
        self.shared, self.version = UNKNOWN, 0
        self.events: list[Event] = []
        self.health = UNKNOWN


class Unshared(msgspec.Struct, frozen=True):
    """A change for the store, and how many events it holds."""

    change: State
    events: int


class Board:
    """See the module's docstring. `thresholds` are those of the catalogue that serves."""

    def __init__(self, *, alone: bool) -> None:
        """`alone` is whether there is nobody to share with."""
        self._alone = alone
        self.thresholds = Thresholds()
        self._entries: dict[str, _Entry] = {}
        # Those that may be kept out now or later: open or half-open circuits, and suppressions.
        self._watched: set[str] = set()
        self._placed: set[str] = set()  # those at which decisions have places
        self._unshared: dict[str, None] = {}
        self._held: tuple[Index, int, int, Held] | None = None
        self.urgent = False
        """Whether a status was set by hand, here or elsewhere; who obeys it takes this off."""
        self.changes = 0
        """Grows with each change of a figure, a circuit or a status."""

    def health(self, endpoint_id: str) -> Health:
        """What is known of an endpoint."""
        entry = self._entries.get(endpoint_id)
        return UNKNOWN if entry is None else entry.health

    def observe(self, endpoint_id: str, observation: Observation, now: int) -> None:
        """An attempt was reported, for the first time."""
        self._add(endpoint_id, Seen(observation, now))

    def leave(self, trace_id: str, but: Collection[str], now: int) -> None:
        """A decision was reported, or not answered with: it frees its places at endpoints that are not in `but`."""
        for endpoint_id in list(self._placed):
            if endpoint_id not in but and _has_place(self.health(endpoint_id), trace_id):
                self._add(endpoint_id, Left(trace_id, now))

    def set_by_hand(self, endpoint_id: str, status: str, reason: str, now: int) -> None:
        """Somebody set a status; empty gives it back to the catalogue."""
        self._add(endpoint_id, Set(status, reason, now))

    def take(self, endpoint_id: str, trace_id: str, now: int) -> bool:
        """Takes a place for a decision that lists a half-open endpoint; whether one was free, as far as is known."""
        self._add(endpoint_id, Took(trace_id, now))
        return self.holds(endpoint_id, trace_id)

    def holds(self, endpoint_id: str, trace_id: str) -> bool:
        """Whether a decision may list the endpoint: it has a place, or needs none."""
        health = self.health(endpoint_id)
        return health.circuit.opened is None or _has_place(health, trace_id)

    def half_open(self, endpoint_ids: Iterable[str], now: int) -> list[str]:
        """Those of the endpoints that a decision may list only with a place."""
        if not self._watched:
            return []
        return [one for one in endpoint_ids if one in self._watched and phase(self.health(one), now) == HALF_OPEN]

    def probed(self, result: Decision | Refusal, now: int) -> list[str]:
        """The candidates of a decision that are half-open."""
        if not self._watched or not isinstance(result, Decision):
            return []
        return self.half_open((one.endpoint_id for one in result.candidates), now)

    def held(self, index: Index, now: int) -> Held:
        """The endpoints that no decision may list now, those aside of which the index says so itself."""
        if not self._watched:
            return NOTHING
        known = self._held
        if known is None or known[0] is not index or not known[1] <= now < known[2]:
            known = self._held = self._work_out(index, now)
        return known[3]

    def all_held(self, index: Index, but: Collection[str], now: int) -> Held:
        """The same with all half-open endpoints, those of `but` aside."""
        half_open = self.half_open(self._watched, now)
        if not half_open:
            return self.held(index, now)
        until = dict.fromkeys(half_open, now) | self._blocked(index, now)
        return held(index, {one: end for one, end in until.items() if one not in but})

    def overlay(self, now: int) -> Generator[None, None, Overlay]:
        """Where endpoints differ from what their catalogue says: a generator that returns it, in slices.

        What says nothing any more is forgotten on the way.
        """
        differences = []
        for number, (endpoint_id, entry) in enumerate(list(self._entries.items())):
            if number % _AT_ONCE == 0:
                yield
            health = entry.health
            if not entry.events and is_idle(health, now, self.thresholds):
                self._entries.pop(endpoint_id, None)
                continue
            latency_ms, error_rate = observed(health, now, self.thresholds)
            differences.append(
                Difference(
                    endpoint_id,
                    latency_ms=latency_ms,
                    error_rate=error_rate,
                    status=health.by_hand.status if health.by_hand else None,
                    suppressed_until=_shut_until(health, now, self.thresholds),
                )
            )
        return Overlay(differences)

    def unshared(self, most: int, only: Collection[str] | None = None) -> list[Unshared]:
        """What the store does not have yet, of at most so many endpoints."""
        keys = [one for one in self._unshared if only is None or one in only][:most]
        return [
            Unshared(State(one, entry.version, encode(entry.health)), len(entry.events))
            for one, entry in ((one, self._entries[one]) for one in keys)
        ]

    def shared(self, unshared: Unshared, version: int) -> None:
        """The store took a change; events that came since stay unshared."""
        key, body = unshared.change.key, unshared.change.body
        entry = self._entries.get(key)
        if entry is None or version <= entry.version:
            return
        entry.shared, entry.version = decode(body), version
        del entry.events[: unshared.events]
        if not entry.events:
            self._unshared.pop(key, None)

    def merge(self, state: State) -> None:
        """The store holds another state than was thought: this instance's own events go over it."""
        entry = self._entries.setdefault(state.key, _Entry())
        if state.version == entry.version:
            return
        entry.shared = decode(state.body) if state.body else UNKNOWN
        entry.version = state.version
        health, kept = entry.shared, []
        for event in entry.events:
            changed = after(health, event, self.thresholds)
            if changed is not None:
                health = changed
                kept.append(event)
        entry.events = kept
        if not kept:
            self._unshared.pop(state.key, None)
        self._become(state.key, entry, health)

    def _add(self, endpoint_id: str, event: Event) -> None:
        entry = self._entries.get(endpoint_id)
        if entry is None:
            entry = self._entries[endpoint_id] = _Entry()
        health = after(entry.health, event, self.thresholds)
        if health is None or health == entry.health:
            return
        if not self._alone:
            entry.events.append(event)
            del entry.events[:-_EVENTS_MAX]
            self._unshared[endpoint_id] = None
        self._become(endpoint_id, entry, health)

    def _become(self, endpoint_id: str, entry: _Entry, health: Health) -> None:
        self.urgent = self.urgent or health.by_hand != entry.health.by_hand
        entry.health = health
        self.changes += 1
        if health.circuit.places:
            self._placed.add(endpoint_id)
        else:
            self._placed.discard(endpoint_id)
        if health.circuit.opened is not None or health.suppressed is not None:
            self._watched.add(endpoint_id)
            self._held = None
        elif endpoint_id in self._watched:
            self._watched.remove(endpoint_id)
            self._held = None

    def _blocked(self, index: Index, now: int) -> dict[str, int]:
        """Until when each is kept out, where its index does not say so itself."""
        blocked = {}
        for endpoint_id in self._watched:
            until = blocked_until(self.health(endpoint_id), now, self.thresholds)
            position = index.position.get(endpoint_id)
            if until is None or position is None:
                continue
            known = index.endpoints[position].suppressed_until
            if known is None or known < until:
                blocked[endpoint_id] = until
        return blocked

    def _work_out(self, index: Index, now: int) -> tuple[Index, int, int, Held]:
        """(index, from when, until when it holds, what is held)."""
        ends = [
            until
            for one in self._watched
            if (until := blocked_until(self.health(one), now, self.thresholds)) is not None
        ]
        return index, now, min(ends, default=now + _REST_MS), held(index, self._blocked(index, now))


def _has_place(health: Health, trace_id: str) -> bool:
    return any(place.trace_id == trace_id for place in health.circuit.places)


def _shut_until(health: Health, now: int, thresholds: Thresholds) -> int | None:
    """Until when a snapshot may leave the endpoint out; who probes it changes too quickly for one."""
    if phase(health, now) != HALF_OPEN:
        return blocked_until(health, now, thresholds)
    paused = later(health.suppressed, None, now)
    return None if paused is None else paused.until
