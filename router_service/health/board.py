"""Board: what one instance knows of every endpoint's health, and what follows from it for its decisions.

Each endpoint's state is what the instances share plus the events that this one has not shared yet, in their order.
Whatever is learned from others goes under those events, so that nothing is lost and nothing counts twice. No clock and
no store: `now` is given, instants are ms (docs/reliability.md, Circuits and Shared health).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable

from router_service.domain.decision import Decision, Refusal
from router_service.domain.overlay import Difference, Overlay
from router_service.domain.thresholds import Thresholds
from router_service.engine.held import NOTHING, Held, held
from router_service.engine.index import Index
from router_service.health.circuit import HALF_OPEN, turn
from router_service.health.events import Again, Event, Left, Seen, Set, Took, after, not_before
from router_service.health.kept import Kept, decode, encode
from router_service.health.observation import Observation
from router_service.health.span import later
from router_service.health.state import Health, blocked_until, is_idle, observed, phase
from router_service.store.interface import State

_AT_ONCE = 32  # endpoints looked at in one slice
_REST_MS = 1000  # for how long what is held holds at most; a clock that was set back may change it without an event
# While the store is lost the oldest events are no longer told apart from what is shared.
_EVENTS_MAX = 1024
UNKNOWN = Health()


class _Entry:
    """One endpoint: what is shared, in which version, the events that are not, and what all of it makes."""

    __slots__ = ("events", "health", "shared", "version")

    def __init__(self) -> None:
        self.shared, self.version = Kept(), 0
        self.events: list[tuple[int, Event]] = []  # with their numbers
        self.health = UNKNOWN


class Board:
    """See the module's docstring. `thresholds` are those of the catalogue that serves."""

    def __init__(self, instance: str = "") -> None:
        """`instance` is a name that no other board of the store has; empty where there is nobody to share with."""
        self._instance = instance
        self._events = 0
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
        self.turned: Callable[[str, str], None] = lambda _endpoint_id, _to: None
        """Told the endpoint_id where an event of this instance's own turned a circuit, and its new phase."""

    @property
    def is_quiet(self) -> bool:
        """Whether no endpoint is kept out, nor needs a place."""
        return not self._watched

    def health(self, endpoint_id: str) -> Health:
        """What is known of an endpoint."""
        entry = self._entries.get(endpoint_id)
        return UNKNOWN if entry is None else entry.health

    def watched(self) -> dict[str, Health]:
        """The health of the endpoints that may be kept out now or later."""
        return {one: self.health(one) for one in self._watched}

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

    def again(self, now: int) -> None:
        """Has what keeps endpoints out written anew, in case the store lost it without a call that failed."""
        if not self._instance:
            return
        for endpoint_id, entry in list(self._entries.items()):
            health = entry.health
            out = health.circuit.opened is not None or later(health.suppressed, None, now) is not None
            if not entry.events and (out or health.by_hand is not None):
                self._add(endpoint_id, Again(now))

    def take(self, endpoint_id: str, trace_id: str, now: int) -> bool:
        """Takes a place for a decision that lists a half-open endpoint; whether one was free, as far as is known."""
        self._add(endpoint_id, Took(trace_id, now))
        return self.holds(endpoint_id, trace_id)

    def holds(self, endpoint_id: str, trace_id: str) -> bool:
        """Whether a decision may list the endpoint: it has a place, or needs none."""
        health = self.health(endpoint_id)
        return health.circuit.opened is None or _has_place(health, trace_id)

    def agreed(self, endpoint_id: str, trace_id: str) -> bool:
        """The same, and its place is shared, so that no other instance gives it away."""
        entry = self._entries.get(endpoint_id)
        taken = () if entry is None else (one for _, one in entry.events if isinstance(one, Took))
        return self.holds(endpoint_id, trace_id) and all(one.trace_id != trace_id for one in taken)

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
        """The same with all half-open endpoints, those of `but` aside; a place may be had in a moment."""
        half_open = self.half_open(self._watched, now) if self._watched else []
        if not half_open:
            return self.held(index, now)
        moment = now - now % _REST_MS + _REST_MS  # one for many decisions, so that they find what is remembered
        until = dict.fromkeys(half_open, moment) | self._blocked(index, now)
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
                del self._entries[endpoint_id]
                self._watched.discard(endpoint_id)
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

    def unshared(self, most: int, only: Collection[str] | None = None) -> list[State]:
        """What the store does not have yet, of at most so many endpoints, as changes of what it had."""
        keys = [one for one in self._unshared if only is None or one in only][:most]
        return [self._change(one, self._entries[one]) for one in keys]

    def merge(self, state: State) -> None:
        """The store holds this of an endpoint: this instance's own events that are not in it go over it."""
        entry = self._entries.setdefault(state.key, _Entry())
        if state.version <= entry.version:  # an answer that was overtaken by a later one
            return
        entry.shared, entry.version = decode(state.body), state.version
        health, learned = entry.shared.health, entry.shared.health.reported_at or 0
        heard, left = entry.shared.heard.get(self._instance, 0), []
        for number, event in entry.events:
            if number > heard and (changed := after(health, not_before(event, learned), self.thresholds)) is not None:
                health = changed
                left.append((number, event))
        entry.events = left
        if not left:
            self._unshared.pop(state.key, None)
        if health != entry.health:
            self._become(state.key, entry, health)

    def fell_back(self, state: State) -> None:
        """The store holds an older state than it did, or none: what is known here goes there again."""
        self._entries[state.key].version = state.version

    def _add(self, endpoint_id: str, event: Event) -> None:
        entry = self._entries.get(endpoint_id)
        if entry is None:
            entry = self._entries[endpoint_id] = _Entry()
        health = after(entry.health, event, self.thresholds)
        if health is None or (health == entry.health and isinstance(event, Took | Left)):
            return  # the others may end or be what only another instance, or nobody any more, knows of
        if self._instance:
            self._events += 1
            entry.events.append((self._events, event))
            del entry.events[:-_EVENTS_MAX]
            self._unshared[endpoint_id] = None
        if health == entry.health:
            return
        to = turn(entry.health.circuit, health.circuit)
        if to:
            self.turned(endpoint_id, to)
        self._become(endpoint_id, entry, health)

    def _change(self, endpoint_id: str, entry: _Entry) -> State:
        number, _ = entry.events[-1]
        kept = entry.shared.with_writer(self._instance, number, entry.health)
        return State(endpoint_id, entry.version, encode(kept))

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
        return index, now, min((*ends, now + _REST_MS)), held(index, self._blocked(index, now))


def _has_place(health: Health, trace_id: str) -> bool:
    return any(place.trace_id == trace_id for place in health.circuit.places)


def _shut_until(health: Health, now: int, thresholds: Thresholds) -> int | None:
    """Until when a snapshot may leave the endpoint out; who probes it changes too quickly for one."""
    if phase(health, now) != HALF_OPEN:
        return blocked_until(health, now, thresholds)
    paused = later(health.suppressed, None, now)
    return None if paused is None else paused.until
