"""Reports: known attempts change nothing, the first settles, later ones add."""

from __future__ import annotations

import asyncio

from router_service.store.interface import REMEMBERED_MS, Spending, Store, TraceQuery
from tests.store.conftest import Shared
from tests.store.values import DAY, MINUTE, NOW, attempt, report, reservation, taken, trace


async def test_the_first_report_settles_the_sum_of_its_attempts(store: Store) -> None:
    await store.reserve(reservation("t1", 100))
    assert await store.report(report("t1", attempt("a1", 30), attempt("a2", 4))) == taken("a1", "a2")
    assert await store.spending("p", DAY) == Spending(34, 0)


async def test_the_same_report_again_changes_nothing(store: Store) -> None:
    await store.reserve(reservation("t1", 100))
    await store.write_traces([trace("t1")])
    said = report("t1", attempt("a1", 30), attempt("a2", 4))
    assert await store.report(said) == taken("a1", "a2")
    before = await store.trace("t1")
    assert await store.report(said) == taken(duplicates=2)
    assert await store.trace("t1") == before
    assert await store.spending("p", DAY) == Spending(34, 0)


async def test_the_same_report_many_times_at_once_counts_once(store: Store) -> None:
    await store.reserve(reservation("t1", 100))
    answers = await asyncio.gather(*(store.report(report("t1", attempt(cost=30))) for _ in range(20)))
    assert sorted(one.accepted for one in answers) == [0] * 19 + [1]
    assert await store.spending("p", DAY) == Spending(30, 0)


async def test_an_attempt_twice_in_one_report_counts_once(store: Store) -> None:
    await store.reserve(reservation("t1", 100))
    assert await store.report(report("t1", attempt("a1", 30), attempt("a1", 31), attempt("a2", 1))) == taken(
        "a1", "a2", duplicates=1
    )
    assert await store.spending("p", DAY) == Spending(31, 0)


async def test_later_reports_add_their_new_attempts(store: Store) -> None:
    await store.reserve(reservation("t1", 100))
    await store.report(report("t1", attempt("a1", 30)))
    assert await store.report(report("t1", attempt("a1", 30), attempt("a2", 5))) == taken("a2", duplicates=1)
    assert await store.spending("p", DAY) == Spending(35, 0)


async def test_attempts_of_other_traces_are_others(store: Store) -> None:
    await store.reserve(reservation("t1", 100))
    await store.reserve(reservation("t2", 100))
    await store.report(report("t1", attempt("a1", 30)))
    assert await store.report(report("t2", attempt("a1", 5))) == taken("a1")
    assert await store.spending("p", DAY) == Spending(35, 0)


async def test_the_first_report_after_expiry_replaces_the_estimate(store: Store) -> None:
    await store.reserve(reservation("t1", 100))
    await store.reserve(reservation("t2", 7))
    await store.expire(NOW + 15 * MINUTE, 10)
    assert await store.spending("p", DAY) == Spending(107, 0)
    assert await store.report(report("t1", attempt("a1", 30))) == taken("a1")
    assert await store.spending("p", DAY) == Spending(37, 0)
    assert await store.report(report("t1", attempt("a2", 5))) == taken("a2")
    assert await store.spending("p", DAY) == Spending(42, 0)


async def test_a_report_settles_on_the_day_of_the_reservation(store: Store) -> None:
    await store.reserve(reservation("t1", 100))
    await store.report(report("t1", attempt("a1", 30), at=NOW + 24 * 60 * MINUTE))
    assert await store.spending("p", DAY) == Spending(30, 0)
    assert await store.spending("p", "2026-12-01") == Spending(0, 0)


async def test_actual_costs_may_exceed_the_reservation_and_the_budget(store: Store) -> None:
    await store.reserve(reservation("t1", 10, budget=10))
    await store.report(report("t1", attempt("a1", 300)))
    assert await store.spending("p", DAY) == Spending(300, 0)
    assert not (await store.reserve(reservation("t2", 0, budget=10))).made


async def test_a_report_without_attempts_gives_the_reservation_back(store: Store) -> None:
    await store.reserve(reservation("t1", 100))
    assert await store.report(report("t1", outcome="cancelled")) == taken()
    assert await store.spending("p", DAY) == Spending(0, 0)
    assert await store.report(report("t1", outcome="cancelled")) == taken()
    assert await store.expire(NOW + 60 * MINUTE, 10) == 0


async def test_without_a_reservation_nothing_is_spent_but_attempts_are_known(store: Store) -> None:
    assert await store.report(report("t1", attempt("a1", 30))) == taken("a1")
    assert await store.report(report("t1", attempt("a1", 30))) == taken(duplicates=1)
    assert await store.spending("p", DAY) == Spending(0, 0)


async def test_a_reservation_that_comes_after_its_report_is_settled_once(store: Store) -> None:
    await store.report(report("t1", attempt("a1", 30)))
    assert (await store.reserve(reservation("t1", 100))).made
    assert await store.report(report("t1", attempt("a1", 30))) == taken(duplicates=1)
    assert await store.spending("p", DAY) == Spending(0, 100)
    assert await store.report(report("t1", attempt("a2", 5))) == taken("a2")
    assert await store.spending("p", DAY) == Spending(5, 0)


async def test_reports_are_kept_in_the_order_of_coming_with_their_new_attempts(store: Store) -> None:
    await store.write_traces([trace("t1")])
    one, two = attempt("a1", 1, body=b"one"), attempt("a2", 10**25, body=b"\x00two\xff", endpoint_id="e/two")
    await store.report(report("t1", one, at=NOW + 9))
    await store.report(report("t1", one, two, at=NOW + 5, outcome="failed"))
    found = await store.trace("t1")
    assert found is not None
    assert found.reports == (report("t1", one, at=NOW + 9), report("t1", two, at=NOW + 5, outcome="failed"))


async def test_the_answer_names_the_new_attempts_in_the_order_of_the_report(store: Store) -> None:
    await store.report(report("t1", attempt("b")))
    said = report("t1", attempt("ä🙂"), attempt("b"), attempt("a"), attempt("ä🙂"))
    assert await store.report(said) == taken("ä🙂", "a", duplicates=2)
    assert await store.report(said) == taken(duplicates=4)


async def test_each_attempt_is_new_in_one_answer_of_many_at_once(store: Store) -> None:
    said = [report("t1", attempt("a"), attempt(f"b{number % 5}"), attempt("a")) for number in range(20)]
    answers = await asyncio.gather(*map(store.report, said))
    assert all(one.accepted == len(one.new) and one.accepted + one.duplicates == 3 for one in answers)
    assert sorted(name for one in answers for name in one.new) == ["a", "b0", "b1", "b2", "b3", "b4"]


async def test_the_operation_of_a_report_and_who_reported_are_kept_with_it(store: Store) -> None:
    told = [
        report("t1", attempt("a1"), operation_id="ä🙂 1"),
        report("t1", attempt("a2")),
        report("t1", attempt("a3"), caller="gateway"),
        report("t1", attempt("a4"), operation_id="op", caller="ops@example.com"),
    ]
    await store.report(told[0])
    await store.write_traces([trace("t1")])
    for one in told[1:]:
        await store.report(one)
    found = await store.trace("t1")
    assert found is not None
    assert [one.operation_id for one in found.reports] == ["ä🙂 1", "", "", "op"]
    assert [one.caller for one in found.reports] == ["", "", "gateway", "ops@example.com"]
    assert list(found.reports) == told


async def test_a_new_outcome_alone_is_kept_too(store: Store) -> None:
    await store.write_traces([trace("t1")])
    await store.report(report("t1", attempt("a1"), outcome=""))
    await store.report(report("t1", attempt("a1"), outcome="accepted"))
    await store.report(report("t1", attempt("a1"), outcome="accepted"))
    await store.report(report("t1", outcome="accepted"))
    found = await store.trace("t1")
    assert found is not None
    assert [(len(one.attempts), one.outcome) for one in found.reports] == [(1, ""), (0, "accepted")]


async def test_a_report_that_comes_before_its_trace_is_kept_with_it(store: Store) -> None:
    said = report("t1", attempt("a1"))
    await store.report(said)
    assert await store.trace("t1") is None
    await store.write_traces([trace("t1")])
    found = await store.trace("t1")
    assert found is not None
    assert found.reports == (said,)


async def test_a_trace_kept_until_its_report_vanishes_with_it(store: Store, shared: Shared) -> None:
    await store.reserve(reservation("t1", 100))
    await store.write_traces([trace("t1", until_report=True), trace("t2", until_report=True)])
    assert await store.trace("t1") is not None
    assert await store.report(report("t1", attempt("a1", 30))) == taken("a1")
    other = await shared.open()
    for each in (store, other):
        assert await each.trace("t1") is None
        assert await each.trace("t2") is not None
        page = await each.traces(TraceQuery(), "", 10)
        assert [one.trace_id for one in page.traces] == ["t2"]
        page = await each.traces(TraceQuery(endpoint_id="e/one"), "", 10)
        assert [one.trace_id for one in page.traces] == ["t2"]
    # What it spent and which attempts were reported is known all the same.
    assert await store.spending("p", DAY) == Spending(30, 0)
    assert await store.report(report("t1", attempt("a1", 30), attempt("a2", 1))) == taken("a2", duplicates=1)
    assert await store.spending("p", DAY) == Spending(31, 0)


async def test_a_trace_kept_until_its_report_is_not_written_after_it(store: Store) -> None:
    await store.report(report("t1", attempt("a1")))
    await store.write_traces([trace("t1", until_report=True)])
    assert await store.trace("t1") is None


async def test_one_that_vanished_does_not_come_back_when_it_is_written_again(store: Store) -> None:
    await store.write_traces([trace("t1", until_report=True)])
    await store.report(report("t1", attempt("a1")))
    await store.write_traces([trace("t1", until_report=True)])
    assert await store.trace("t1") is None
    assert (await store.traces(TraceQuery(), "", 10)).traces == ()


async def test_many_reports_at_once_each_settle(store: Store) -> None:
    for number in range(100):
        await store.reserve(reservation(f"t{number}", 1000))
    answers = await asyncio.gather(
        *(store.report(report(f"t{number}", attempt("a", number), attempt("b", 1))) for number in range(100))
    )
    assert set(answers) == {taken("a", "b")}
    assert await store.spending("p", DAY) == Spending(sum(range(100)) + 100, 0)


async def test_attempts_are_known_as_long_as_is_said(store: Store) -> None:
    await store.reserve(reservation("t1", 100))
    await store.report(report("t1", attempt("a1", 30)))
    await store.write_traces([trace("t1", expires_at=NOW + 3 * REMEMBERED_MS)])
    await store.sweep(NOW + 2 * REMEMBERED_MS, "v1", 10)
    assert await store.report(report("t1", attempt("a1", 30), at=NOW + 2 * REMEMBERED_MS)) == taken(duplicates=1)
    assert await store.spending("p", DAY) == Spending(30, 0)
