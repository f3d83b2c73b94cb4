"""Telling: a decision explained again by its trace, on the catalogue and with the figures that it was made on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec

from router_service.asks import CatalogNotKept, Explained, Memory, StoreUnavailable
from router_service.catalog.archive import unpack
from router_service.catalog.served import Served
from router_service.catalog.slices import unhurried
from router_service.catalog.snapshot import Snapshot
from router_service.domain.caller import Caller
from router_service.domain.decision import Explanation
from router_service.domain.overlay import Figure, Overlay, figures
from router_service.domain.request import Stated
from router_service.domain.workload import Joined
from router_service.engine.cache import Bounded
from router_service.engine.explain import explain_in_slices
from router_service.engine.held import Held, held
from router_service.policies.refuse import refuse
from router_service.sight import Sight
from router_service.store.interface import StoreLost, Trace
from router_service.traces.record import context_of

_OLD_SNAPSHOTS = 4  # versions that traces were explained on, kept compiled


class Teller:
    """Explains traces, all of one store."""

    def __init__(self, served: Served, memory: Memory, sight: Sight) -> None:
        self._served, self._memory, self._sight = served, memory, sight
        self._old: Bounded[tuple[str, str], Snapshot] = Bounded(_OLD_SNAPSHOTS)

    async def explain(self, caller: Caller, trace: Trace, pause_s: float = 0.0) -> Explained:
        """A decision or refusal told again, word for word. Raises CatalogNotKept or StoreUnavailable."""
        snapshot = await self._snapshot_of(trace)
        asked, context = self._memory.codec.read_request(trace.request), context_of(trace)
        policy = None if snapshot is None else snapshot.policies.get(asked.policy_id)
        if snapshot is None or policy is None:
            raise CatalogNotKept(trace.catalog_version)
        request = asked.request
        workload = snapshot.workloads.find(asked.workload) if asked.workload else None
        joined = None if workload is None else Joined(workload, workload.label, context.own or Stated(), request)
        if context.message:
            told = refuse(snapshot.index, policy, request, trace.outcome, context.message, context.retry_at)
            return Explained(Explanation(told, ()), trace.catalog_version, trace.at, trace.trace_id, joined)
        if context.budget_max_cost is not None:
            request = msgspec.structs.replace(request, max_cost=context.budget_max_cost)
        out = held(snapshot.index, context.held)
        explanation = await unhurried(explain_in_slices(snapshot.index, policy, request, trace.at, out), pause_s)
        explanation, hidden = self._sight.seen(caller, snapshot, explanation)
        differing = dict(figures_of(explanation, snapshot, out, trace.at))
        return Explained(explanation, trace.catalog_version, trace.at, trace.trace_id, joined, differing, hidden)

    async def _snapshot_of(self, trace: Trace) -> Snapshot | None:
        """What a trace was made on: what serves now, or what the store keeps; None where it keeps it no more."""
        serving = self._served.snapshot
        if serving is not None and (serving.version, serving.overlay.version) == (trace.catalog_version, trace.figures):
            return serving
        known = self._old.get((trace.catalog_version, trace.figures))
        if known is None:
            known = await self._recorded(trace.catalog_version)
            if known is not None and trace.figures:
                form = await self._kept(trace.figures)
                if form is None:
                    return None
                known = await unhurried(known.overlaid(Overlay.unpacked(form)), pause_s=0)
            if known is not None:
                self._old[trace.catalog_version, trace.figures] = known
        return known

    async def _recorded(self, version: str) -> Snapshot | None:
        """A version as its catalogue records it, or with other figures, which are laid aside."""
        serving = self._served.snapshot
        if serving is not None and serving.version == version:
            return await unhurried(serving.overlaid(Overlay()), pause_s=0)
        old = self._old.get((version, ""))
        if old is None:
            form = await self._kept(version)
            if form is None:
                return None
            content = await asyncio.to_thread(unpack, form)
            old = self._old[version, ""] = await unhurried(Snapshot.in_slices(content, version, 0), pause_s=0)
        return old

    async def _kept(self, version: str) -> bytes | None:
        try:
            return await self._memory.store.catalog(version)
        except StoreLost:
            raise StoreUnavailable from None


def figures_of(
    explanation: Explanation, snapshot: Snapshot, out: Held, now: int
) -> Iterator[tuple[str, tuple[Figure, ...]]]:
    """(endpoint_id, figures) of each endpoint that was not taken as the catalogue records it, explained as of `now`."""
    recorded, until = snapshot.recorded, out.by_id(snapshot.index)
    for one in explanation.endpoints:
        endpoint_id = one.endpoint.endpoint_id
        difference = snapshot.overlay.differences.get(endpoint_id)
        if difference is not None or endpoint_id in until:
            own = recorded.endpoints[recorded.position[endpoint_id]]
            yield endpoint_id, figures(own, difference, until.get(endpoint_id), now)
