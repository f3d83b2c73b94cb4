"""The parts of a supervisor: metrics that add up, workers that are started again, and links that carry files."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge
from prometheus_client.parser import text_string_to_metric_families

from router_service.engine.slices import made_of
from router_service.server.admin import CONTENT_TYPE
from router_service.server.exposition import written
from router_service.server.tallies import Counts, Times
from router_service.server.workers import merge
from router_service.server.workers.child import Child, pause_s
from router_service.server.workers.claims import Claims, Taken
from router_service.server.workers.journal import Journal
from router_service.server.workers.link import Catalog, Link, LinkFull, Load, Page, content_of, file_of, pair
from router_service.server.workers.seat import Seat
from tests.server.live import serving

OWN = "# HELP router_workers About.\n# TYPE router_workers gauge\nrouter_workers 2.0\n"


def page(decisions: int, second: float, endpoints: int) -> merge.Pages:
    """What a worker would tell that has counted so much."""
    registry = CollectorRegistry()
    counts = Counts("router_decisions", "About.", ["policy"], begin=(("none",),))
    times = Times("router_rpc_duration_seconds", "About.", ["method"], (1, 2))
    for one in (counts, times):
        registry.register(one)
    counts.add(('odd "name" 1',), decisions)
    times.add(("Decide",), second)
    Gauge("router_catalog_endpoints", "About.", registry=registry).set(endpoints)
    Gauge("process_max_fds", "About.", registry=registry).set(100 * endpoints)
    Gauge("router_workers", "About.", registry=registry).set(1)
    return merge.read(made_of(written(registry)).decode())


def told(pages: list[merge.Pages]) -> dict[str, float]:
    """By series, as Prometheus reads what they make together."""
    text = "".join(merge.merged(pages, OWN))
    return {
        f"{sample.name}{sorted(sample.labels.values())}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counters_and_histograms_add_up_and_gauges_do_as_they_mean() -> None:
    found = told([page(3, 0.5, 7), page(4, 1.5, 6)])
    assert found["router_decisions_total['odd \"name\" 1']"] == 7
    assert found["router_decisions_total['none']"] == 0
    assert found["router_rpc_duration_seconds_bucket['1.0', 'Decide']"] == 1
    assert found["router_rpc_duration_seconds_count['Decide']"] == 2
    assert found["router_rpc_duration_seconds_sum['Decide']"] == 2
    assert (found["router_catalog_endpoints[]"], found["process_max_fds[]"]) == (7, 600)
    assert found["router_workers[]"] == 2  # the supervisor's word


async def test_it_is_known_of_every_gauge_what_several_make_together(tmp_path: Path) -> None:
    async with serving(tmp_path) as live:
        page = merge.read(made_of(written(live.registry)).decode())
    gauges = {name for name, family in page.items() if family.kind == "gauge"}
    assert gauges - {"router_workers", "router_workers_wanted"} == set(merge.GAUGES)


def test_what_ended_workers_counted_stays_and_their_gauges_go() -> None:
    retired = merge.Retired()
    for _ in range(3):
        retired.add(page(5, 0.5, 90))
    found = told([page(1, 0.5, 7), retired.page()])
    assert found["router_decisions_total['odd \"name\" 1']"] == 16
    assert found["router_rpc_duration_seconds_count['Decide']"] == 4
    assert found["router_catalog_endpoints[]"] == 7
    assert told([retired.page()])["router_decisions_total['odd \"name\" 1']"] == 15


def test_ended_workers_leave_no_more_rows_than_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "RETIRED_MAX", 4)
    retired = merge.Retired()
    for number in range(10):
        lines = f'# HELP a_total A.\n# TYPE a_total counter\na_total{{e="{number}"}} 1.0\na_total{{e="0"}} 1.0\n'
        retired.add(merge.read(lines))
    rows = retired.page()["a_total"].values
    assert len(rows) == 4
    assert rows['a_total{e="0"}'] == 10


def test_the_form_of_a_scrape_is_that_of_the_library() -> None:
    assert CONTENT_TYPE == CONTENT_TYPE_LATEST


def test_pauses_grow_with_ends_that_come_soon_and_not_for_ever() -> None:
    assert [pause_s(ends) for ends in (0, 1, 2, 3, 100)] == [0, 0.2, 0.4, 0.8, 30]


def child(command: str, journal: Journal, changed: Callable[[], None] = lambda: None) -> Child:
    """A place for processes that run this Python code, with `link` for their end of the link."""
    code = "from router_service.server.workers.seat import taken_seat\nlink = taken_seat().take_link()\n" + command
    return Child(
        lambda link: Seat(1, link, ()),
        (sys.executable, "-c", code),
        journal,
        changed,
        lambda _: None,
        lambda _one, _message: None,
    )


class Kept(Journal):
    """A journal that keeps its events."""

    def __init__(self) -> None:
        super().__init__("info", "json")
        self.events: list[tuple[str, dict[str, object]]] = []

    def error(self, event: str, **fields: object) -> None:
        self.events.append((event, fields))


async def test_one_that_cannot_live_is_tried_again_and_again_with_longer_pauses() -> None:
    journal, stopped, retired = Kept(), asyncio.Event(), list[merge.Pages]()

    def retire(counted: merge.Pages) -> None:
        retired.append(counted)
        if len(retired) == 3:
            stopped.set()

    place = child("raise SystemExit(3)", journal)
    assert await place.keep(retire, stopped, place.live()) == 3
    assert [fields["pause_s"] for _, fields in journal.events] == [0.2, 0.4]
    assert all(fields["exit_code"] == 3 for _, fields in journal.events)


async def test_one_that_does_not_answer_for_long_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("router_service.server.workers.child.HUNG_S", 0.0)
    journal, changes = Kept(), asyncio.Event()
    code = """import time; link.send(b'{"type":"ready","addresses":["x"]}'); time.sleep(60)"""
    place = child(code, journal, changes.set)
    life = asyncio.create_task(place.live())
    await asyncio.wait_for(changes.wait(), 30)
    assert place.serves
    await place.ask_page(0.05)
    await place.ask_page(0.05)
    assert await asyncio.wait_for(life, 30) == -9
    assert [event for event, _ in journal.events] == ["a worker hangs and is ended"]
    assert not place.serves


async def test_a_link_carries_messages_in_order_with_their_files() -> None:
    ours, theirs = (Link(end) for end in pair())
    big = os.urandom(3_000_000)
    file = file_of(big)
    ours.send(Load(7))
    ours.send(Catalog(1, [7]), file)
    ours.send(Catalog(2, failed="why"))
    os.close(file)
    ours.close()
    got = []
    async for message, held in theirs.received():
        got.append((message, content_of(held) if held >= 0 else b""))
        if held >= 0:
            assert content_of(held) == big  # again, by whoever else has it
            os.close(held)
    assert got == [(Load(7), b""), (Catalog(1, [7]), big), (Catalog(2, failed="why"), b"")]
    theirs.close()


async def test_a_link_that_nobody_reads_is_full_at_some_time_and_one_that_ended_takes_all() -> None:
    ours, theirs = (Link(end) for end in pair())
    sent = 0
    with suppress(LinkFull):
        while sent < 100_000:
            ours.send(Page())
            sent += 1
    assert 10 < sent < 100_000
    theirs.close()
    ours.send(Page())
    ours.close()


def test_a_claimed_port_lets_only_those_in_that_share_it() -> None:
    claims = Claims()
    port = claims.claim("here", ["127.0.0.1"], 0)
    with socket.socket() as alone, pytest.raises(OSError, match="in use"):
        alone.bind(("127.0.0.1", port))
    others = Claims()
    with pytest.raises(Taken, match="there: cannot listen"):
        others.claim("there", ["127.0.0.1"], port)
    others.close()
    with socket.socket() as worker:
        worker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        worker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        worker.bind(("127.0.0.1", port))
        worker.listen()
        with socket.create_connection(("127.0.0.1", port)):
            pass
    claims.close()
    with socket.socket() as alone:
        alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        alone.bind(("127.0.0.1", port))


def test_the_supervisor_imports_neither_grpc_nor_the_engine() -> None:
    """It lives as long as the server does, beside workers that have all of that."""
    code = "import router_service.server.workers.supervisor, sys; print(*sys.modules)"
    modules = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    heavy = {"grpc", "google", "prometheus_client", "structlog", "click", "yaml", "rich", "router_service.engine"}
    assert modules & heavy == set()
    assert "router_service.server.workers.child" in modules
