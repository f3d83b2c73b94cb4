"""What the one who does the faults knows, and answers must agree with: drains by hand, pauses, loads by hand."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from router_service.v1.explanation_pb2 import Explanation
from tests.chaos.catalogues import Book
from tests.chaos.processes import Call, Instance, World

# Other instances follow within half a second; a machine that runs tests may be many times as slow.
FOLLOW_S = 10
# A refused credential keeps an endpoint out for five minutes; a little less is held against decisions.
PAUSE_S = 240


@dataclass
class Drain:
    """A status set by hand, from the answer on until it is asked to be given back."""

    endpoint_id: str
    set_at: float
    by: Instance
    kept: bool
    back_at: float = math.inf


@dataclass
class Knowledge:
    """Collects what was done, and holds answers to it."""

    world: World
    book: Book
    drains: list[Drain] = field(default_factory=list)
    _statuses: dict[str, set[str]] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set)
    _pauses: dict[tuple[int, str], float] = field(default_factory=dict)
    _loads: list[tuple[Instance, float, int]] = field(default_factory=list)

    def setting(self, endpoint_id: str, status: str) -> None:
        """A status is about to be set."""
        self._statuses.setdefault(endpoint_id, set()).add(status)

    def failing(self, endpoint_ids: Iterable[str]) -> None:
        """Failures are about to be reported of these."""
        self._failed.update(endpoint_ids)

    def paused(self, instance: Instance, endpoint_id: str) -> None:
        """An instance has answered a report that keeps the endpoint out for five minutes."""
        self._pauses[instance.number, endpoint_id] = time.monotonic()

    def loaded(self, instance: Instance, version: str) -> None:
        """An instance has answered that it loaded this version."""
        self._loads.append((instance, time.monotonic(), self.book.last_place(version)))

    def wrong_list(self, call: Call, listed: list[str], version: str) -> list[str]:
        """What is wrong with a list, or the version that it was made on, given what was done before the call."""
        found = [
            f"{drain.endpoint_id} is listed, though it was drained by hand"
            for drain in self.drains
            if drain.endpoint_id in listed and self._obeys(call, drain)
        ]
        for endpoint_id in listed:
            since = self._pauses.get((call.instance.number, endpoint_id))
            if since is not None and self._holds(since, call):
                found.append(f"{endpoint_id} is listed {call.begun - since:.1f} s after a report that keeps it out")
        loads = [place for by, at, place in self._loads if by is call.instance and at < call.begun]
        if self.book.last_place(version) < max(loads, default=-1):
            found.append(f"version {version} was made on, after a load of a later one was answered")
        return found

    def wrong_figures(self, told: Explanation) -> list[str]:
        """What keeps endpoints out without anybody having done anything to them."""
        found = []
        for one in told.endpoints:
            for figure in one.figures:
                known = {
                    "by_hand": figure.used in self._statuses.get(one.endpoint_id, ()),
                    "circuit": one.endpoint_id in self._failed,
                    "observed": True,
                }
                if not known.get(figure.source, False):
                    found.append(f"{one.endpoint_id} has a {figure.name} {figure.used} ({figure.source}) of nobody's")
        return found

    def _obeys(self, call: Call, drain: Drain) -> bool:
        """Whether the instance had to know of the drain, all through the call."""
        if not (drain.set_at < call.begun and drain.back_at > call.ended):
            return False
        if call.instance is drain.by:
            return True
        heard = max(drain.set_at, call.instance.born)
        return (
            drain.kept
            and call.begun > heard + FOLLOW_S
            and not self.world.store_spells.touch(drain.set_at - 1, call.begun)
            and not self.world.clock_spells.touch(drain.set_at - 1, call.begun)
        )

    def _holds(self, since: float, call: Call) -> bool:
        quiet = not self.world.clock_spells.touch(since - 3, call.ended)
        return since < call.begun and call.ended < since + PAUSE_S and quiet
