"""Reservations and spending, as the interface words them."""

from __future__ import annotations

import asyncio

from router_service.store.interface import REMEMBERED_MS, Reserved, Spending, Store
from tests.store.conftest import Shared
from tests.store.values import BIG, CENT, DAY, MINUTE, NOW, attempt, report, reservation


async def test_nothing_is_spent_at_first(store: Store) -> None:
    assert await store.spending("p", DAY) == Spending(0, 0)
    assert Spending(2, 3).total == 5


async def test_a_reservation_counts_at_once(store: Store) -> None:
    assert await store.reserve(reservation(amount=7)) == Reserved(True, Spending(0, 7))
    assert await store.spending("p", DAY) == Spending(0, 7)


async def test_one_that_does_not_fit_is_not_made_and_leaves_nothing(store: Store) -> None:
    assert (await store.reserve(reservation("t1", 60, budget=100))).made
    assert await store.reserve(reservation("t2", 41, budget=100)) == Reserved(False, Spending(0, 60))
    assert await store.reserve(reservation("t2", 40, budget=100)) == Reserved(True, Spending(0, 100))


async def test_where_the_budget_is_reached_not_even_nothing_is_reserved(store: Store) -> None:
    assert (await store.reserve(reservation("t1", 0, budget=1))).made
    assert (await store.reserve(reservation("t2", 1, budget=1))).made
    assert await store.reserve(reservation("t3", 0, budget=1)) == Reserved(False, Spending(0, 1))
    assert not (await store.reserve(reservation("t4", 0, budget=0, policy_id="q"))).made


async def test_the_same_trace_answers_as_the_first_time(store: Store) -> None:
    first = await store.reserve(reservation("t1", 10))
    await store.reserve(reservation("t2", 20))
    assert await store.reserve(reservation("t1", 10)) == first
    assert await store.reserve(reservation("t1", 99, budget=0)) == first
    await store.report(report("t1", attempt(cost=5)))
    assert await store.reserve(reservation("t1", 10)) == first
    assert await store.spending("p", DAY) == Spending(5, 20)


async def test_the_same_trace_many_times_at_once_reserves_once(store: Store) -> None:
    answers = await asyncio.gather(*(store.reserve(reservation("t1", 10)) for _ in range(20)))
    assert set(answers) == {Reserved(True, Spending(0, 10))}
    assert await store.spending("p", DAY) == Spending(0, 10)


async def test_days_and_policies_are_counted_apart(store: Store) -> None:
    await store.reserve(reservation("t1", 1))
    await store.reserve(reservation("t2", 2, day="2026-12-01"))
    await store.reserve(reservation("t3", 4, policy_id="q"))
    assert await store.spending("p", DAY) == Spending(0, 1)
    assert await store.spending("p", "2026-12-01") == Spending(0, 2)
    assert await store.spending("q", DAY) == Spending(0, 4)


async def test_names_that_look_like_keys_are_counted_apart(store: Store) -> None:
    names = ["a", "a:b", "a}b", "{a}", "a b", "ä🙂", "a'b", 'a"b', "%61", "a\\", "*"]
    for number, name in enumerate(names):
        await store.reserve(reservation(f"t:{name}", number, policy_id=name))
    assert [await store.spending(name, DAY) for name in names] == [Spending(0, n) for n in range(len(names))]


async def test_a_budget_that_was_changed_counts_from_the_next_reservation(store: Store) -> None:
    assert (await store.reserve(reservation("t1", 80, budget=100))).made
    assert not (await store.reserve(reservation("t2", 10, budget=50))).made
    assert (await store.reserve(reservation("t2", 10, budget=90))).made
    assert not (await store.reserve(reservation("t3", 1, budget=90))).made


async def test_a_hundred_at_once_of_a_cent_on_fifty_admit_fifty(store: Store) -> None:
    answers = await asyncio.gather(*(store.reserve(reservation(f"t{i}", CENT)) for i in range(100)))
    assert sum(one.made for one in answers) == 50
    assert await store.spending("p", DAY) == Spending(0, 50 * CENT)
    assert sorted(one.spending.reserved for one in answers if one.made) == [n * CENT for n in range(1, 51)]


async def test_amounts_of_any_size_are_exact(store: Store) -> None:
    budget = 3 * BIG + 7
    assert await store.reserve(reservation("t1", BIG + 1, budget=budget)) == Reserved(True, Spending(0, BIG + 1))
    assert (await store.reserve(reservation("t2", BIG + 3, budget=budget))).made
    assert not (await store.reserve(reservation("t3", BIG + 4, budget=budget))).made
    assert (await store.reserve(reservation("t3", BIG + 3, budget=budget))).spending == Spending(0, budget)
    await store.report(report("t1", attempt("a1", BIG - 1), attempt("a2", 9_999_999), attempt("a3", 1)))
    assert await store.spending("p", DAY) == Spending(BIG + 9_999_999, 2 * BIG + 6)
    assert await store.expire(NOW + 15 * MINUTE, 10) == 2
    assert await store.spending("p", DAY) == Spending(3 * BIG + 10_000_005, 0)


async def test_amounts_around_the_edges_of_machine_numbers(store: Store) -> None:
    sizes = [10**7 - 1, 10**7, 10**14, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**19 - 1, 10**38]
    total = 0
    for number, size in enumerate(sizes):
        total += size
        answer = await store.reserve(reservation(f"t{number}", size, budget=total))
        assert answer == Reserved(True, Spending(0, total))
        assert not (await store.reserve(reservation(f"u{number}", 1, budget=total + 0))).made
    for number, size in enumerate(sizes):
        await store.report(report(f"t{number}", attempt(cost=size - 1)))
    assert await store.spending("p", DAY) == Spending(total - len(sizes), 0)


async def test_expiry_settles_at_the_amount_once_its_time_has_come(store: Store) -> None:
    await store.reserve(reservation("t1", 5, expires_at=NOW + 10))
    await store.reserve(reservation("t2", 7, expires_at=NOW + 11))
    assert await store.expire(NOW + 9, 10) == 0
    assert await store.expire(NOW + 10, 10) == 1
    assert await store.spending("p", DAY) == Spending(5, 7)
    assert await store.expire(NOW + 10, 10) == 0
    assert await store.expire(NOW + 99, 10) == 1
    assert await store.spending("p", DAY) == Spending(12, 0)


async def test_expiry_stops_at_its_limit(store: Store) -> None:
    for number in range(150):
        await store.reserve(
            reservation(f"t{number}", 1, policy_id=f"p{number % 3}", day=f"2026-11-{1 + number % 2:02}")
        )
    late = NOW + 15 * MINUTE
    assert [await store.expire(late, 100), await store.expire(late, 100), await store.expire(late, 100)] == [100, 50, 0]
    for policy in ("p0", "p1", "p2"):
        for day in ("2026-11-01", "2026-11-02"):
            assert await store.spending(policy, day) == Spending(25, 0)


async def test_what_was_reported_does_not_expire(store: Store) -> None:
    await store.reserve(reservation("t1", 5))
    await store.report(report("t1", attempt(cost=3)))
    assert await store.expire(NOW + 60 * MINUTE, 10) == 0
    assert await store.spending("p", DAY) == Spending(3, 0)


async def test_two_stores_share_what_is_spent(shared: Shared) -> None:
    one, other = await shared.open(), await shared.open()
    answers = await asyncio.gather(
        *((one if number % 2 else other).reserve(reservation(f"t{number}", CENT)) for number in range(100))
    )
    assert sum(answer.made for answer in answers) == 50
    assert await one.spending("p", DAY) == await other.spending("p", DAY) == Spending(0, 50 * CENT)
    assert await one.reserve(reservation("t0", CENT)) == answers[0] or not answers[0].made
    assert await one.expire(NOW + 15 * MINUTE, 100) + await other.expire(NOW + 15 * MINUTE, 100) == 50
    assert await other.spending("p", DAY) == Spending(50 * CENT, 0)


async def test_everything_stays_when_the_store_is_closed_and_opened(shared: Shared) -> None:
    store = await shared.open()
    first = await store.reserve(reservation("t1", BIG, budget=2 * BIG))
    await store.close()
    again = await shared.open()
    assert await again.reserve(reservation("t1", 1)) == first
    assert await again.spending("p", DAY) == Spending(0, BIG)


async def test_open_reservations_outlive_sweeps(store: Store) -> None:
    await store.reserve(reservation("t1", 5))
    await store.sweep(NOW + 2 * REMEMBERED_MS, "v1", 10)
    assert await store.expire(NOW + 2 * REMEMBERED_MS, 10) == 1
    assert await store.spending("p", DAY) == Spending(5, 0)
