"""Reservations taken out of one that was made before: the day's total stays, whatever became of that one."""

from __future__ import annotations

from router_service.store.interface import Spending, Store
from tests.store.values import BIG, DAY, MINUTE, NOW, attempt, report, reservation


async def test_what_is_taken_out_leaves_the_days_total(store: Store) -> None:
    assert (await store.reserve(reservation("lease-1", 100, budget=1000))).made
    await store.draw("lease-1", [reservation("t1", 30), reservation("t2", 50)])
    assert await store.spending("p", DAY) == Spending(0, 100)
    await store.report(report("t1", attempt(cost=7)))
    assert await store.spending("p", DAY) == Spending(7, 70)
    # What is left of it goes back.
    await store.report(report("lease-1"))
    assert await store.spending("p", DAY) == Spending(7, 50)


async def test_taking_out_again_changes_nothing(store: Store) -> None:
    await store.reserve(reservation("lease-1", 100, budget=1000))
    for _ in range(2):
        await store.draw("lease-1", [reservation("t1", 30)])
    await store.report(report("lease-1"))
    assert await store.spending("p", DAY) == Spending(0, 30)
    await store.report(report("t1", attempt(cost=7)))
    await store.draw("lease-1", [reservation("t1", 30)])
    assert await store.spending("p", DAY) == Spending(7, 0)


async def test_out_of_one_that_was_given_back(store: Store) -> None:
    await store.reserve(reservation("lease-1", 100, budget=1000))
    await store.report(report("lease-1"))
    await store.draw("lease-1", [reservation("t1", 30)])
    assert await store.spending("p", DAY) == Spending(0, 30)


async def test_out_of_one_that_has_expired(store: Store) -> None:
    await store.reserve(reservation("lease-1", 100, budget=1000, expires_at=NOW + MINUTE))
    assert await store.expire(NOW + MINUTE, 10) == 1
    await store.draw("lease-1", [reservation("t1", 30)])
    assert await store.spending("p", DAY) == Spending(70, 30)
    await store.report(report("t1", attempt(cost=7)))
    await store.report(report("lease-1"))
    assert await store.spending("p", DAY) == Spending(7, 0)


async def test_each_expires_at_its_own_amount(store: Store) -> None:
    await store.reserve(reservation("lease-1", 100, budget=1000, expires_at=NOW + 3 * MINUTE))
    await store.draw("lease-1", [reservation("t1", 30, expires_at=NOW + MINUTE)])
    assert await store.expire(NOW + MINUTE, 10) == 1
    assert await store.spending("p", DAY) == Spending(30, 70)
    assert await store.expire(NOW + 3 * MINUTE, 10) == 1
    assert await store.spending("p", DAY) == Spending(100, 0)
    assert await store.expire(NOW + 9 * MINUTE, 10) == 0


async def test_more_than_it_holds_is_reserved_all_the_same(store: Store) -> None:
    await store.reserve(reservation("lease-1", 100, budget=1000))
    await store.draw("lease-1", [reservation("t1", 80), reservation("t2", 80)])
    assert await store.spending("p", DAY) == Spending(0, 160)
    await store.draw("lease-2", [reservation("t3", 5)])
    assert await store.spending("p", DAY) == Spending(0, 165)


async def test_many_of_any_size(store: Store) -> None:
    await store.reserve(reservation("lease-1", 200 * BIG, budget=1000 * BIG))
    await store.draw("lease-1", [reservation(f"t{number}", BIG + number) for number in range(150)])
    assert await store.spending("p", DAY) == Spending(0, 200 * BIG)
    await store.report(report("lease-1"))
    assert await store.spending("p", DAY) == Spending(0, 150 * BIG + sum(range(150)))
