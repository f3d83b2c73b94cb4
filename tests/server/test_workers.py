"""Several workers behind one port: real processes that share a store, are killed and replaced."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import grpc
import pytest

from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.catalog_service_pb2_grpc import CatalogServiceStub
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from tests.server.conftest import ServerProcess
from tests.server.instance import (
    CATALOG,
    Instance,
    Serve,
    connection,
    decide,
    found,
    listed,
    replaced,
    rss,
    until,
    versions,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workers")


@pytest.fixture(scope="module")
def two(folder: Path) -> Iterator[Instance]:
    """An instance of two workers for the tests of this module."""
    running: list[ServerProcess] = []

    def start(*arguments: str) -> ServerProcess:
        running.append(ServerProcess("--listen", "127.0.0.1:0", "--log-level", "debug", *arguments))
        return running[-1]

    try:
        yield Instance(start, folder)
    finally:
        for server in running:
            server.stop()


def test_both_answer_on_one_port(two: Instance) -> None:
    def answering() -> set[str]:
        decide(two.target)
        return {found[1] for line in two.server.lines if (found := re.search(r'"worker":(\d).*"decided"', line))}

    until(lambda: answering() == {"1", "2"})
    assert sorted(two.workers()) == [1, 2]
    assert two.healthz() == 200
    assert two.health()
    assert two.health("router_service.v1.RouterService")


def test_metrics_are_those_of_one_instance(two: Instance) -> None:
    before = two.metric("router_decisions_total")
    for _ in range(40):
        decide(two.target)
    assert two.metric("router_decisions_total") == before + 40
    assert two.metric("router_catalog_endpoints") == 2
    assert two.metric("router_serving") == 1
    assert (two.metric("router_workers"), two.metric("router_workers_wanted")) == (2, 2)
    # What each has of its own adds up, the supervisor's part too.
    resident = sum(rss(pid) for pid in (two.server.process.pid, *two.workers().values()))
    assert two.metric("process_resident_memory_bytes") == pytest.approx(resident, rel=0.2)


def test_the_supervisor_takes_little_memory(two: Instance) -> None:
    assert rss(two.server.process.pid) < min(rss(pid) for pid in two.workers().values()) / 2


def test_budgets_traces_and_circuits_are_shared(two: Instance) -> None:
    answers = [decide(two.target, "daily", input_tokens=500_000, output_tokens=500_000) for _ in range(40)]
    assert sum(answer.HasField("decision") for answer in answers) == 20
    assert {answer.refusal.code for answer in answers} == {"", "budget_exceeded"}
    for answer in answers[:10]:
        with connection(two.target) as channel:
            assert until(partial(found, channel, answer.decision.trace_id)).policy_id == "daily"
    for number in range(5):
        trace_id = decide(two.target, exclude_endpoints=["b"]).decision.trace_id
        attempt = Attempt(attempt_id=str(number), endpoint_id="a", failure_class="transient", status_code=503)
        with connection(two.target) as channel:
            report = Report(trace_id=trace_id, outcome="failed", attempts=[attempt])
            RouterServiceStub(channel).Report(pb.ReportRequest(report=report), timeout=20)
    until(lambda: all(listed(decide(two.target)) == ["b"] for _ in range(12)))


def test_a_change_is_loaded_once_and_reaches_all(two: Instance) -> None:
    [before] = versions(two.target)
    two.catalog.write_text(CATALOG + "- {policy_id: new}\n")
    [after] = until(lambda: len(seen := versions(two.target)) == 1 and before not in seen and seen)
    with connection(two.target) as channel:
        catalog = CatalogServiceStub(channel)
        same = catalog.Reload(catalog_pb.ReloadRequest(), timeout=30)
        assert (same.catalog_version, same.changed) == (after, False)
        two.catalog.write_text(CATALOG + "- {policy_id: newer}\n")
        newer = catalog.Reload(catalog_pb.ReloadRequest(), timeout=30).catalog_version
    assert newer not in (before, after)
    until(lambda: versions(two.target) == {newer})
    assert two.metric("router_catalog_version") == 1


def test_a_bad_catalogue_is_rejected_by_all_and_a_new_worker_serves_the_last_good_one(two: Instance) -> None:
    good = versions(two.target)
    two.catalog.write_text(CATALOG.replace("eu-owned", "eu-something"))
    until(lambda: not two.health("catalog"))
    with connection(two.target) as channel, pytest.raises(grpc.RpcError) as caught:
        CatalogServiceStub(channel).Reload(catalog_pb.ReloadRequest(), timeout=30)
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "eu-something" in str(caught.value.details())
    replaced(two)
    until(lambda: two.metric("router_catalog_rejected") == 1 and two.health())
    assert versions(two.target) == good
    two.catalog.write_text(CATALOG + "- {policy_id: newest}\n")
    until(lambda: two.metric("router_catalog_rejected") == 0)
    until(lambda: len(versions(two.target) - good) == 1)


def test_a_killed_worker_is_replaced_its_absence_is_seen_and_nothing_is_uncounted(two: Instance) -> None:
    exits, lines = two.metric("router_worker_exits_total"), len(two.server.lines)
    for _ in range(20):
        decide(two.target)
    counted = two.metric("router_decisions_total")
    before = two.workers()
    os.kill(before[2], signal.SIGKILL)
    until(lambda: two.metric("router_workers") == 1)
    assert two.healthz() == 200
    assert not two.health()  # of the worker that is left
    assert two.health("")
    assert two.metric("router_decisions_total") == counted
    decide(two.target)
    said = two.server.wait_for("a worker has ended and is replaced", after=lines).string
    assert '"worker":2' in said
    assert '"signal":9' in said
    until(lambda: two.metric("router_workers") == 2)
    assert two.workers()[1] == before[1]
    assert two.workers()[2] != before[2]
    until(two.health)
    assert two.metric("router_decisions_total") == counted + 1
    assert two.metric("router_worker_exits_total") == exits + 1


def test_a_worker_that_is_told_to_end_by_hand_ends_gently_and_is_replaced(two: Instance) -> None:
    """Its last words have all that it counted."""
    for _ in range(20):
        decide(two.target)
    before, counted = two.workers(), two.metric("router_decisions_total")
    os.kill(before[1], signal.SIGTERM)
    until(lambda: two.workers().get(1, before[1]) != before[1] and two.metric("router_workers") == 2)
    assert two.metric("router_decisions_total") == counted


def test_another_server_cannot_come_in(two: Instance, serve: Serve) -> None:
    for flags in ((), ("--workers", "2")):
        other = serve("--listen", two.target, *flags)
        other.wait_for("is the port in use")
        assert other.process.wait(20) == 2


def test_sighup_has_all_load_again(two: Instance) -> None:
    before = two.metric("router_catalog_loads_total", outcome="unchanged")
    two.server.process.send_signal(signal.SIGHUP)
    until(lambda: two.metric("router_catalog_loads_total", outcome="unchanged") == before + 2)
