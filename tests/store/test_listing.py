"""Pages of traces: order, cursors, filters, boundaries."""

from __future__ import annotations

import random

import pytest

from router_service.store.interface import Store, Trace, TraceQuery
from tests.store.values import NOW, attempt, report, trace


async def ids(store: Store, limit: int = 100, **query: object) -> list[str]:
    """The ids of all pages."""
    asked, cursor, found = TraceQuery(**query), "", []
    while True:
        page = await store.traces(asked, cursor, limit)
        assert len(page.traces) <= limit
        found += [one.trace_id for one in page.traces]
        if not page.next_cursor:
            return found
        assert page.traces
        cursor = page.next_cursor


async def test_no_traces_are_one_empty_page(store: Store) -> None:
    page = await store.traces(TraceQuery(), "", 10)
    assert (page.traces, page.next_cursor) == ((), "")


async def test_newest_first_whatever_the_order_of_writing(store: Store) -> None:
    order = list(range(30))
    random.Random(1).shuffle(order)
    await store.write_traces([trace(f"t{n}", NOW + n) for n in order])
    assert await ids(store) == [f"t{n}" for n in reversed(range(30))]


async def test_a_page_has_the_whole_traces_without_reports(store: Store) -> None:
    await store.write_traces([trace("t1")])
    await store.report(report("t1", attempt()))
    assert (await store.traces(TraceQuery(), "", 10)).traces == (trace("t1"),)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 24, 25, 26])
async def test_pages_of_any_size_make_the_whole_list(store: Store, limit: int) -> None:
    # Of the same millisecond many at a time: they have an order too.
    await store.write_traces([trace(f"t{n}", NOW + n // 10) for n in range(25)])
    found = await ids(store, limit)
    assert len(found) == 25
    assert sorted(found) == sorted(f"t{n}" for n in range(25))
    assert [int(one[1:]) // 10 for one in found] == sorted((n // 10 for n in range(25)), reverse=True)


async def test_the_last_page_has_no_cursor(store: Store) -> None:
    await store.write_traces([trace(f"t{n}", NOW + n) for n in range(4)])
    first = await store.traces(TraceQuery(), "", 2)
    assert first.next_cursor
    assert not (await store.traces(TraceQuery(), first.next_cursor, 2)).next_cursor


async def test_pages_are_stable_while_traces_come_in(store: Store) -> None:
    await store.write_traces([trace(f"t{n}", NOW + n) for n in range(20)])
    found: list[str] = []
    cursor, step = "", 0
    while True:
        page = await store.traces(TraceQuery(), cursor, 3)
        found += [one.trace_id for one in page.traces]
        cursor = page.next_cursor
        if not cursor:
            break
        # New ones at the front, and one of the same time as the page's last.
        step += 1
        await store.write_traces([trace(f"new{step}-{n}", NOW + 100 + n) for n in range(5)])
        await store.write_traces([trace(f"same{step}", page.traces[-1].at)])
    assert [one for one in found if one.startswith("t")] == [f"t{n}" for n in reversed(range(20))]
    assert not [one for one in found if one.startswith("new")]
    assert len(set(found)) == len(found)


async def test_pages_are_stable_while_traces_are_swept(store: Store) -> None:
    await store.write_traces([trace(f"t{n}", NOW + n, expires_at=NOW + (1 if n % 2 else 10**6)) for n in range(20)])
    first = await store.traces(TraceQuery(), "", 5)
    await store.sweep(NOW + 1, "v1", 100)
    rest = [one.trace_id for one in (await store.traces(TraceQuery(), first.next_cursor, 100)).traces]
    assert rest == [f"t{n}" for n in reversed(range(15)) if n % 2 == 0]


MANY = [
    trace(
        f"t{n}",
        NOW + n // 2,
        policy_id=f"p{n % 3}",
        outcome=("decided", "no_endpoint")[n % 4 == 0],
        endpoints=("e/one", "e/two", "e/one", "e/three")[: n % 5],
    )
    for n in range(120)
]

QUERIES = [
    {},
    {"policy_id": "p1"},
    {"policy_id": "none"},
    {"outcome": "no_endpoint"},
    {"endpoint_id": "e/two"},
    {"endpoint_id": "e/none"},
    {"since": NOW + 20},
    {"until": NOW + 20},
    {"since": NOW + 20, "until": NOW + 21},
    {"since": NOW + 20, "until": NOW + 20},
    {"policies": ()},
    {"policies": ("p0",)},
    {"policies": ("p0", "p2")},
    {"policies": ("p0", "p0", "none")},
    {"policies": tuple(f"p{n}" for n in range(1, 600))},
    {"policies": ("p0", "p2"), "policy_id": "p2"},
    {"policies": ("p0", "p2"), "policy_id": "p1"},
    {"policies": ("p0", "p2"), "endpoint_id": "e/three"},
    {"policies": (), "endpoint_id": "e/three"},
    {"policies": ("p0", "p2"), "outcome": "no_endpoint", "since": NOW + 3, "until": NOW + 50},
    {"policy_id": "p1", "outcome": "no_endpoint"},
    {"policy_id": "p1", "endpoint_id": "e/one"},
    {"outcome": "no_endpoint", "endpoint_id": "e/one"},
    {"policy_id": "p0", "outcome": "decided", "endpoint_id": "e/two", "since": NOW + 5, "until": NOW + 55},
]


def passes(one: Trace, query: TraceQuery) -> bool:
    return (
        query.policy_id in ("", one.policy_id)
        and query.outcome in ("", one.outcome)
        and (not query.endpoint_id or query.endpoint_id in one.endpoints)
        and (query.since is None or query.since <= one.at)
        and (query.until is None or one.at < query.until)
        and (query.policies is None or one.policy_id in query.policies)
    )


async def test_every_filter_and_their_combinations(store: Store) -> None:
    await store.write_traces(MANY)
    for query in QUERIES:
        expected = [one.trace_id for one in MANY if passes(one, TraceQuery(**query))]
        for limit in (1000, 7):
            found = await ids(store, limit, **query)
            assert sorted(found) == sorted(expected), query
            times = [next(one.at for one in MANY if one.trace_id == found_id) for found_id in found]
            assert times == sorted(times, reverse=True), query


async def test_names_that_look_like_patterns_match_themselves(store: Store) -> None:
    names = ["%", "_", "*", "p:q", "{p}", "ä🙂", "'", '"']
    await store.write_traces(
        [trace(f"t{n}", NOW + n, policy_id=name, outcome=name, endpoints=(name,)) for n, name in enumerate(names)]
    )
    for number, name in enumerate(names):
        for key in ("policy_id", "outcome", "endpoint_id"):
            assert await ids(store, **{key: name}) == [f"t{number}"]


@pytest.mark.parametrize(
    "cursor",
    ["x", "s", "r", "s1", "r1", "s1.", "s1.2.3", "s1.2 ", "é", "s\uff11.\uff12", "r!!", "s" + "9" * 40, "0" * 4000],
)
async def test_a_cursor_not_made_here_is_refused(store: Store, cursor: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        await store.traces(TraceQuery(), cursor, 10)


async def test_a_limit_below_one_is_one(store: Store) -> None:
    await store.write_traces([trace("t1"), trace("t2")])
    assert len((await store.traces(TraceQuery(), "", 0)).traces) == 1


async def test_none_is_left_out_where_the_last_of_a_page_has_gone(store: Store) -> None:
    """All are of one instant, so that only the place of the one that has gone told them apart."""
    await store.write_traces([trace(f"t{n}", NOW, expires_at=NOW + (1 if n == 5 else 10**9)) for n in range(9)])
    page = await store.traces(TraceQuery(), "", 4)
    assert [one.trace_id for one in page.traces] == ["t8", "t7", "t6", "t5"]
    await store.sweep(NOW + 1, "", 100)
    rest = [one.trace_id for one in (await store.traces(TraceQuery(), page.next_cursor, 100)).traces]
    assert rest[-5:] == ["t4", "t3", "t2", "t1", "t0"]


async def test_a_cursor_tells_nothing_of_other_policies(store: Store) -> None:
    mine = TraceQuery(policies=("mine",))
    await store.write_traces([trace(f"m{n}", NOW, policy_id="mine") for n in range(4)])
    before = await store.traces(mine, "", 2)
    await store.write_traces([trace(f"o{n}", NOW, policy_id="others") for n in range(50)])
    assert await store.traces(mine, "", 2) == before
    everything = await store.traces(TraceQuery(policies=("others",)), "", 1)
    assert everything.next_cursor
    # One that names another's trace is worth no more than one that names none.
    gone = await store.traces(TraceQuery(policies=("nobody",)), everything.next_cursor, 10)
    assert (gone.traces, gone.next_cursor) == ((), "")
