"""What a sweep removes and what it leaves."""

from __future__ import annotations

import asyncio

from router_service.store.interface import GRACE_MS, REMEMBERED_MS, Spending, Store, Swept, TraceQuery
from tests.store.conftest import Shared
from tests.store.values import DAY, NOW, attempt, report, reservation, taken, trace


async def test_expired_traces_go_with_their_reports_and_the_others_stay(store: Store) -> None:
    await store.write_traces([trace("t1", expires_at=NOW + 10), trace("t2", expires_at=NOW + 11)])
    await store.report(report("t1", attempt()))
    await store.report(report("t2", attempt()))
    assert await store.sweep(NOW + 9, "v1", 100) == Swept(0, 0, more=False)
    assert await store.sweep(NOW + 10, "v1", 100) == Swept(1, 0, more=False)
    assert await store.trace("t1") is None
    found = await store.trace("t2")
    assert found is not None
    assert len(found.reports) == 1
    for query in (
        TraceQuery(),
        TraceQuery(policy_id="p"),
        TraceQuery(outcome="decided"),
        TraceQuery(endpoint_id="e/one"),
    ):
        assert [one.trace_id for one in (await store.traces(query, "", 10)).traces] == ["t2"]


async def test_a_trace_that_comes_back_has_no_reports_of_before(store: Store) -> None:
    await store.write_traces([trace("t1", expires_at=NOW + 10)])
    await store.report(report("t1", attempt()))
    await store.sweep(NOW + 10, "v1", 100)
    await store.write_traces([trace("t1")])
    found = await store.trace("t1")
    assert found is not None
    assert found.reports == ()


async def test_it_stops_at_its_limit_and_says_so(store: Store) -> None:
    await store.write_traces([trace(f"t{n}", NOW + n, expires_at=NOW + n) for n in range(250)])
    assert await store.sweep(NOW + 1000, "v1", 100) == Swept(100, 0, more=True)
    # The oldest to expire go first.
    assert await store.trace("t99") is None
    assert await store.trace("t100") is not None
    assert await store.sweep(NOW + 1000, "v1", 150) == Swept(150, 0, more=True)
    assert await store.sweep(NOW + 1000, "v1", 100) == Swept(0, 0, more=False)
    assert (await store.traces(TraceQuery(), "", 10)).traces == ()


async def test_two_sweeps_at_once_remove_each_trace_once(shared: Shared) -> None:
    one, other = await shared.open(), await shared.open()
    await one.write_traces([trace(f"t{n}", NOW + n, expires_at=NOW + n) for n in range(200)])
    swept = await asyncio.gather(one.sweep(NOW + 1000, "v1", 1000), other.sweep(NOW + 1000, "v1", 1000))
    assert sum(each.traces for each in swept) == 200
    assert (await one.traces(TraceQuery(), "", 10)).traces == ()


async def test_money_is_known_after_the_trace_is_gone(store: Store) -> None:
    await store.reserve(reservation("t1", 100))
    await store.write_traces([trace("t1", expires_at=NOW + 10)])
    await store.report(report("t1", attempt("a1", 30)))
    await store.sweep(NOW + 10, "v1", 100)
    assert await store.report(report("t1", attempt("a1", 30), attempt("a2", 2))) == taken("a2", duplicates=1)
    assert await store.spending("p", DAY) == Spending(32, 0)
    await store.sweep(NOW + 2 * REMEMBERED_MS, "v1", 100)
    assert await store.spending("p", DAY) == Spending(32, 0)


async def test_a_version_stays_while_a_trace_refers_to_it(store: Store) -> None:
    long = NOW + 3 * GRACE_MS
    for version in ("v1", "v2", "v3"):
        await store.keep_catalog(version, version.encode())
    await store.write_traces(
        [
            trace("t1", expires_at=NOW + 10, catalog_version="v1"),
            trace("t2", expires_at=long, catalog_version="v1"),
            trace("t3", expires_at=NOW + 10, catalog_version="v2"),
        ]
    )
    # All were just kept, and their traces may still be on their way.
    assert await store.sweep(NOW + 10, "v3", 100) == Swept(2, 0, more=False)
    assert await store.sweep(NOW + 9 + GRACE_MS, "v3", 100) == Swept(0, 0, more=False)
    assert await store.sweep(NOW + 10 + GRACE_MS, "v3", 100) == Swept(0, 1, more=False)
    assert [await store.catalog(one) for one in ("v1", "v2", "v3")] == [b"v1", None, b"v3"]
    assert await store.sweep(long - 1, "v3", 100) == Swept(0, 0, more=False)
    assert await store.sweep(long, "v3", 100) == Swept(1, 1, more=False)
    assert [await store.catalog(one) for one in ("v1", "v3")] == [None, b"v3"]


async def test_the_version_that_served_stays_a_while_after_another_serves(store: Store) -> None:
    await store.keep_catalog("v1", b"1")
    await store.sweep(NOW, "v1", 10)
    await store.sweep(NOW + 5 * GRACE_MS, "v1", 10)
    await store.keep_catalog("v2", b"2")
    # Another instance serves v1 yet, and its next sweep will say so.
    assert await store.sweep(NOW + 6 * GRACE_MS - 1, "v2", 10) == Swept(0, 0, more=False)
    assert await store.sweep(NOW + 6 * GRACE_MS, "v2", 10) == Swept(0, 1, more=False)
    assert await store.catalog("v1") is None
    assert await store.catalog("v2") == b"2"


async def test_a_version_kept_again_is_fresh_again(store: Store) -> None:
    await store.keep_catalog("v1", b"1")
    await store.sweep(NOW, "v2", 10)
    await store.keep_catalog("v1", b"1")
    assert await store.sweep(NOW + GRACE_MS, "v2", 10) == Swept(0, 0, more=False)
    assert await store.sweep(NOW + 2 * GRACE_MS, "v2", 10) == Swept(0, 1, more=False)


async def test_versions_wait_until_no_expired_trace_is_left(store: Store) -> None:
    await store.keep_catalog("v1", b"1")
    await store.sweep(NOW - GRACE_MS, "v2", 10)
    await store.write_traces([trace(f"t{n}", catalog_version="v1", expires_at=NOW) for n in range(3)])
    assert await store.sweep(NOW, "v2", 2) == Swept(2, 0, more=True)
    assert await store.catalog("v1") == b"1"
    assert await store.sweep(NOW, "v2", 2) == Swept(1, 1, more=False)


async def test_figures_stay_while_a_trace_refers_to_them(store: Store) -> None:
    long = NOW + 3 * GRACE_MS
    for version in ("v1", "f1", "f2"):
        await store.keep_catalog(version, version.encode())
    await store.write_traces(
        [
            trace("t1", expires_at=NOW + 10, figures="f1"),
            trace("t2", expires_at=long, figures="f1"),
            trace("t3", expires_at=NOW + 10, figures="f2"),
            trace("t4", expires_at=long + 10),
        ]
    )
    assert await store.sweep(NOW + 10, "v1", 100) == Swept(2, 0, more=False)
    assert await store.sweep(NOW + 9 + GRACE_MS, "v1", 100) == Swept(0, 0, more=False)
    assert await store.sweep(NOW + 10 + GRACE_MS, "v1", 100) == Swept(0, 1, more=False)
    assert [await store.catalog(one) for one in ("v1", "f1", "f2")] == [b"v1", b"f1", None]
    assert await store.sweep(long - 1, "v2", 100) == Swept(0, 0, more=False)
    assert await store.sweep(long, "v2", 100) == Swept(1, 1, more=False)
    assert [await store.catalog(one) for one in ("v1", "f1")] == [b"v1", None]


async def test_it_stops_at_its_limit_of_versions_and_says_so(store: Store) -> None:
    for number in range(100):
        await store.keep_catalog(f"f{number:02}", b"figures")
    assert await store.sweep(NOW, "v1", 30) == Swept(0, 0, more=False)
    await store.write_traces([trace("t1", expires_at=NOW + 5 * GRACE_MS, figures="f07")])
    # One that has just come is not among them, however many wait.
    await store.keep_catalog("f99", b"figures")
    now = NOW + GRACE_MS
    assert [await store.sweep(now, "v1", 30) for _ in range(4)] == [
        *(Swept(0, 30, more=True) for _ in range(3)),
        Swept(0, 8, more=False),
    ]
    kept = [number for number in range(100) if await store.catalog(f"f{number:02}") is not None]
    assert kept == [7, 99]


async def test_two_sweeps_at_once_remove_each_version_once(shared: Shared) -> None:
    one, other = await shared.open(), await shared.open()
    for number in range(60):
        await one.keep_catalog(f"f{number}", b"figures")
    await one.sweep(NOW, "v1", 1000)
    swept = await asyncio.gather(*(store.sweep(NOW + GRACE_MS, "v1", 1000) for store in (one, other)))
    assert sum(each.catalogs for each in swept) == 60


async def test_a_version_kept_again_during_a_sweep_stays(store: Store) -> None:
    for number in range(300):
        await store.keep_catalog(f"f{number:03}", b"figures")
    await store.sweep(NOW, "v1", 1000)
    sweeping = asyncio.create_task(store.sweep(NOW + GRACE_MS, "v1", 1000))
    again: set[int] = set()
    while not sweeping.done():
        number = 299 - len(again)
        await store.keep_catalog(f"f{number:03}", b"figures")
        again.add(number)
    await sweeping
    assert len(again) > 3
    for number in again:
        assert await store.catalog(f"f{number:03}") == b"figures"


async def test_reserving_goes_on_during_a_sweep(store: Store) -> None:
    await store.write_traces([trace(f"t{n}", NOW + n, expires_at=NOW) for n in range(500)])
    sweeping = asyncio.create_task(store.sweep(NOW, "v1", 500))
    made = 0
    while not sweeping.done():
        made += (await store.reserve(reservation(f"r{made}", 1))).made
    assert (await sweeping).traces == 500
    assert await store.spending("p", DAY) == Spending(0, made)
    assert made > 10
