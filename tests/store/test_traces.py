"""Traces by their id, and versions of the catalogue."""

from __future__ import annotations

from router_service.store.interface import Store, StoredTrace
from tests.store.conftest import Shared
from tests.store.values import NOW, attempt, report, trace


async def test_a_trace_comes_back_as_it_was_written(store: Store) -> None:
    every = [
        trace("t1"),
        trace("t2", NOW + 1, endpoints=(), outcome="no_endpoint", request=b"", answer=b"", context=b""),
        trace("ä🙂:{}", NOW + 2, endpoints=("e/ä🙂", "e:{x}", "e'\""), policy_id="ä:{}", until_report=True),
        trace("with figures", NOW + 4, figures="f1"),
        trace("big", NOW + 3, request=bytes(range(256)) * 4000, endpoints=tuple(f"e/{n}" for n in range(64))),
    ]
    await store.write_traces(every)
    for one in every:
        assert await store.trace(one.trace_id) == StoredTrace(one, ())


async def test_an_unknown_trace_is_none(store: Store) -> None:
    assert await store.trace("t1") is None
    await store.report(report("t1", attempt()))
    assert await store.trace("t1") is None


async def test_nothing_to_write_is_well(store: Store) -> None:
    await store.write_traces([])


async def test_one_that_is_there_stays_as_it_is(store: Store) -> None:
    await store.write_traces([trace("t1", answer=b"first")])
    await store.report(report("t1", attempt()))
    await store.write_traces([trace("t1", NOW + 5, answer=b"second", endpoints=("e/three",)), trace("t2")])
    found = await store.trace("t1")
    assert found is not None
    assert found.trace.answer == b"first"
    assert len(found.reports) == 1
    assert await store.trace("t2") is not None


async def test_a_trace_twice_in_a_batch_is_written_once(store: Store) -> None:
    await store.write_traces([trace("t1", answer=b"first"), trace("t1", answer=b"second")])
    found = await store.trace("t1")
    assert found is not None
    assert found.trace.answer == b"first"


async def test_batches_of_any_size(store: Store) -> None:
    for size in (1, 7, 8, 63, 64, 65, 500):
        await store.write_traces([trace(f"{size}-{n}", NOW + n) for n in range(size)])
        for n in range(size):
            found = await store.trace(f"{size}-{n}")
            assert found is not None
            assert found.trace.at == NOW + n


async def test_another_store_sees_what_was_written(shared: Shared) -> None:
    one, other = await shared.open(), await shared.open()
    await one.write_traces([trace("t1")])
    await other.report(report("t1", attempt()))
    assert await one.trace("t1") == await other.trace("t1") == StoredTrace(trace("t1"), (report("t1", attempt()),))


async def test_versions_of_the_catalogue_are_kept(store: Store) -> None:
    assert await store.catalog("v1") is None
    body = bytes(range(256)) * 10_000
    await store.keep_catalog("v1", body)
    await store.keep_catalog("v2", b"")
    await store.keep_catalog("v1", body)
    assert await store.catalog("v1") == body
    assert await store.catalog("v2") == b""
    assert await store.catalog("v3") is None


async def test_a_version_that_only_traces_name_is_none(store: Store) -> None:
    await store.write_traces([trace("t1", catalog_version="v9")])
    assert await store.catalog("v9") is None
