"""The figures that traces refer to are in the store for as long as a trace may need them."""

from __future__ import annotations

import pytest

from router_service.domain.overlay import Difference, Overlay
from router_service.domain.policy import Policy
from router_service.domain.request import RouteRequest
from router_service.engine.decide import decide
from router_service.engine.index import Index
from router_service.store.interface import GRACE_MS, StoreLost
from router_service.traces.record import Record
from router_service.traces.recorder import Recorder
from router_service.wire.trace import CODEC
from tests.builders import NOW, endpoint
from tests.memory_store import MemoryStore

HOUR = 3600 * 1000
POLICY = Policy.read({"policy_id": "p", "retention": "1h"})
INDEX = Index([endpoint("a@x")])
OVERLAY = Overlay([Difference("a@x", latency_ms=700)])


def record(number: int, now: int, overlay: Overlay = OVERLAY) -> Record:
    request = RouteRequest()
    result = decide(INDEX, POLICY, request, now)
    return Record(
        trace_id=f"{number:032x}",
        now=now,
        policy=POLICY,
        catalog_version="v",
        request=request,
        result=result,
        overlay=overlay,
    )


def recorder(store: MemoryStore) -> Recorder:
    return Recorder(store, CODEC, lambda _: None)


async def test_figures_are_kept_before_the_traces_that_refer_to_them() -> None:
    store = MemoryStore()
    recording = recorder(store)
    other = Overlay([Difference("a@x", status="degraded")])
    for number, overlay in enumerate([Overlay(), OVERLAY, OVERLAY, other]):
        recording.record(record(number, NOW, overlay))
    await recording.flush()
    assert store.catalogs == {OVERLAY.version: OVERLAY.packed, other.version: other.packed}
    assert [one.figures for one in store.written.values()] == ["", OVERLAY.version, OVERLAY.version, other.version]
    assert Overlay.unpacked(store.catalogs[OVERLAY.version]) == OVERLAY


async def test_figures_that_come_again_after_a_quiet_time_are_kept_again() -> None:
    """The sweep has removed them since, with the last trace that needed them."""
    store = MemoryStore()
    recording = recorder(store)
    recording.record(record(1, NOW))
    await recording.flush()
    for hours in (2, 4):
        await store.sweep(NOW + hours * HOUR, "v", 100)
    assert store.catalogs == {}
    recording.record(record(2, NOW + 5 * HOUR))
    await recording.flush()
    assert store.catalogs.keys() == {OVERLAY.version}


async def test_figures_in_steady_use_are_kept_now_and_then_and_never_swept() -> None:
    store = MemoryStore()
    recording = recorder(store)
    for step in range(60):
        now = NOW + step * GRACE_MS // 10
        recording.record(record(step, now))
        await recording.flush()
        await store.sweep(now, "v", 100)
        assert store.catalogs.keys() == {OVERLAY.version}


async def test_a_store_that_was_lost_gets_the_figures_again() -> None:
    store = MemoryStore()
    recording = recorder(store)
    recording.record(record(1, NOW))
    await recording.flush()
    store.lost = True
    recording.record(record(2, NOW + 1))
    with pytest.raises(StoreLost):
        await recording.flush()
    store.lost = False
    store.catalogs.clear()
    await recording.flush()
    assert store.catalogs.keys() == {OVERLAY.version}
    assert len(store.written) == 2
