"""A scrape: what is read when it comes, in slices, and never more of it than was promised whatever callers name."""

from __future__ import annotations

import asyncio
from itertools import product

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from router_service.catalog.content import Content
from router_service.catalog.snapshot import Snapshot
from router_service.domain.policy import Policy
from router_service.domain.report import FAILURE_CLASSES, OUTCOMES, OutcomeReport, ReportedAttempt
from router_service.engine.slices import made_of
from router_service.server.exposition import written
from router_service.server.labels import OTHER
from router_service.server.metrics import ENDPOINTS_MAX, POLICIES_MAX, Metrics
from router_service.server.outcomes import PAIRS_MAX
from router_service.server.tallies import Counts, Times
from router_service.store.interface import Taken, Trace
from router_service.traces.reports import Settled
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Report
from router_service.v1.route_pb2 import RouteRequest
from tests.builders import NOW, endpoint
from tests.server.in_process import InProcess, failure, history
from tests.server.test_reports import attempt, report

__all__ = ["history"]  # fixtures

PLENTY = 600


def values(metrics: Metrics, label: str) -> set[str]:
    """All that a label says in a scrape."""
    families = text_string_to_metric_families(made_of(written(metrics.registry)).decode())
    return {sample.labels[label] for one in families for sample in one.samples if label in sample.labels}


def lines(metrics: Metrics) -> int:
    """How long a scrape is."""
    return made_of(written(metrics.registry)).count(b"\n")


def settled(policy_id: str, endpoint_id: str, outcome: str, failure_class: str = "") -> Settled:
    """A report of one attempt."""
    one = ReportedAttempt(
        attempt_id="1", endpoint_id=endpoint_id, failure_class=failure_class, latency_ms=10, time_to_first_token_ms=5
    )
    trace = Trace(
        trace_id="t",
        at=NOW,
        expires_at=NOW,
        policy_id=policy_id,
        outcome="decided",
        catalog_version="v",
        endpoints=(endpoint_id,),
        request=b"",
        answer=b"",
    )
    told = OutcomeReport(trace_id="t", outcome=outcome, attempts=(one,))
    return Settled(trace, Taken(1, 0, ("1",)), told, (), {"1": 10**12})


@pytest.fixture(scope="module")
def plenty() -> Snapshot:
    """A catalogue of more policies and endpoints than metrics tell apart."""
    endpoints = tuple(endpoint(f"m@{number:04}") for number in range(PLENTY))
    policies = tuple(Policy.read({"policy_id": f"p{number}"}) for number in range(PLENTY))
    content = Content(currency="EUR", endpoints=endpoints, policies=policies, default_policy="p0")
    return Snapshot.of(content, NOW)


def test_reports_of_thousands_of_names_make_no_more_rows_than_promised(plenty: Snapshot) -> None:
    metrics = Metrics()
    metrics.installed(plenty, changed=True)

    def flood(prefix: str, step: int = 1) -> None:
        for number, outcome in product(range(0, PLENTY, step), OUTCOMES):
            named = f"{prefix}p{number}", f"{prefix}m@{number:04}"
            metrics.settled(settled(*named, outcome, FAILURE_CLASSES[number % 5]))
            for policy in range(4):
                metrics.settled(settled(f"{prefix}p{policy}", named[1], outcome))

    flood("")
    assert len(values(metrics, "policy")) == POLICIES_MAX + 1
    assert len(values(metrics, "endpoint") | values(metrics, "route")) == ENDPOINTS_MAX + 1
    families = text_string_to_metric_families(made_of(written(metrics.registry)).decode())
    pairs = {
        (sample.labels["policy"], sample.labels["route"])
        for one in families
        if one.name == "router_operations"
        for sample in one.samples
    }
    assert len([pair for pair in pairs if pair[1] != OTHER]) == PAIRS_MAX
    before = lines(metrics)
    assert before < 15_000  # as docs/metrics.md says
    flood("unheard-of ", 7)
    flood("", 7)
    # Names that the catalogue has not share one row of each outcome and of each class.
    assert lines(metrics) - before <= len(OUTCOMES) + len(FAILURE_CLASSES) + 4
    assert "unheard-of" not in made_of(written(metrics.registry)).decode()


async def test_names_that_callers_make_up_do_not_make_a_scrape_longer(history: InProcess) -> None:
    async def one(name: str) -> None:
        await history.router.Decide(pb.DecideRequest(request=RouteRequest(model=name, task=f"t{name}")))
        await failure(history.router.Decide(pb.DecideRequest(policy_id=name)))
        await failure(history.router.Report(report("0" * 32, attempt("1", name), outcome="accepted")))
        await failure(history.router.Report(pb.ReportRequest(report=Report(trace_id=name, outcome=name))))

    async def flood(turn: int) -> None:
        await asyncio.gather(*(one(f"{turn}-{number}") for number in range(200)))

    await flood(1)
    before = lines(history.metrics)
    await flood(2)
    assert lines(history.metrics) == before


def test_it_is_what_the_library_would_write() -> None:
    registry, counts = CollectorRegistry(), Counts("router_few", "About.", ["a"], begin=(("x",),))
    times = Times("router_some_seconds", 'With a "quote" and a \\.', ["b"], (1, 2))
    registry.register(counts)
    registry.register(times)
    counts.add(('y"\n',), 3)
    times.add(("z",), 1.5)
    assert made_of(written(registry)) == generate_latest(registry)


def test_many_rows_are_written_in_slices_and_read_as_one_metric() -> None:
    registry, times = CollectorRegistry(), Times("router_many_seconds", "About.", ["endpoint"], (1, 2, 3))
    registry.register(times)
    for number in range(PLENTY):
        times.add((f"e{number}",), 2)
    slices, text = 0, b""
    writing = written(registry)
    while not text:
        try:
            next(writing)
            slices += 1
        except StopIteration as done:
            text = done.value
    assert slices > text.count(b"\n") / 50
    (family,) = text_string_to_metric_families(text.decode())
    assert len({sample.labels["endpoint"] for sample in family.samples}) == PLENTY
    assert text.count(b"# HELP") == 1
