"""The workloads of one version of a catalogue: found as requests name them, and joined with what these state."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from router_service.domain.request import Stated
from router_service.domain.workload import Joined, Workload, join
from router_service.engine.cache import Bounded
from router_service.engine.index import Index
from router_service.engine.regions import common_regions

REMEMBERED = 2048  # requests under workloads


class Workloads:
    """Every version of every workload; what a request became under one is worked out once."""

    def __init__(self, workloads: Iterable[Workload]) -> None:
        self.by_place = {one.place: one for one in sorted(workloads, key=lambda one: one.place)}
        self._named: dict[str, Workload] = {}
        for one in self.by_place.values():
            self._named[one.label] = self._named[one.name] = one
        self._joined: Bounded[tuple[str, Stated], Joined] = Bounded(REMEMBERED)

    def find(self, named: str) -> Workload | None:
        """The workload of `name@version`, or the newest version of `name`."""
        return self._named.get(named)

    def joined(self, named: str, own: Stated, index: Index) -> Joined | None:
        """What a request that states `own` becomes under the workload that it names, None where there is none.

        The same object for the same request. `index` is that of this version of the catalogue. Raises InvalidValue with
        every problem at once.
        """
        key = (named, own)
        joined = self._joined.get(key)
        if joined is None:
            workload = self._named.get(named)
            if workload is None:
                return None
            joined = join(workload, own, partial(common_regions, index))
            if joined.request.is_short and own.alone.is_short:
                self._joined[key] = joined
        return joined
