"""What reports say came of decisions, as metrics count it: each attempt once, each outcome of an operation once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt
from router_service.v1.route_pb2 import RouteRequest
from tests.server.in_process import EVERYTHING_CHANGED, InProcess, failure, history
from tests.server.test_reports import attempt, report

__all__ = ["history"]  # fixtures

TOKENS = RouteRequest(input_tokens=1000, output_tokens=1000)  # 0.003 on small@a, 0.03 on large@b
FAILED: dict[str, Any] = {"failure_class": "transient", "status_code": 503, "latency_ms": 20, "cost": 0.001}
USED: dict[str, Any] = {"input_tokens": 1000, "output_tokens": 1000, "latency_ms": 1500, "time_to_first_token_ms": 300}


async def decided(history: InProcess, policy_id: str = "eu") -> str:
    """The trace_id of a decision, which lists small@a and then large@b."""
    answer = await history.router.Decide(pb.DecideRequest(policy_id=policy_id, request=TOKENS))
    return str(answer.decision.trace_id)


async def tell(history: InProcess, trace_id: str, *attempts: Attempt, outcome: str = "accepted") -> None:
    await history.router.Report(report(trace_id, *attempts, outcome=outcome))


def operations(history: InProcess) -> dict[tuple[str, str, str], float]:
    """Operations by policy, route and outcome."""
    return rows(history, "router_operations", "policy", "route", "outcome")


def rows(history: InProcess, name: str, *labels: str) -> dict[Any, float]:
    """The values of a counter by those of its labels."""
    return {
        tuple(sample.labels[label] for label in labels): sample.value
        for metric in history.metrics.registry.collect()
        if metric.name == name
        for sample in metric.samples
    }


async def test_the_first_candidate_answers(history: InProcess) -> None:
    await tell(history, await decided(history), attempt("1", **USED))
    assert operations(history) == {("eu", "small@a", "accepted"): 1}
    assert rows(history, "router_operation_fallbacks", "policy", "route") == {}
    assert rows(history, "router_operation_attempts", "policy", "route") == {("eu", "small@a"): 1}
    assert rows(history, "router_operation_cost", "route", "currency") == {("small@a", "EUR"): pytest.approx(0.003)}
    assert rows(history, "router_attempts", "policy", "endpoint", "class") == {("eu", "small@a", "success"): 1}
    assert history.counted("router_attempt_latency_seconds_sum", endpoint="small@a") == 1.5
    assert history.counted("router_attempt_latency_seconds_bucket", endpoint="small@a", le="1.0") == 0
    assert history.counted("router_attempt_latency_seconds_bucket", endpoint="small@a", le="2.0") == 1
    assert history.counted("router_attempt_time_to_first_token_seconds_sum", endpoint="small@a") == 0.3


async def test_a_fallback_is_booked_on_the_route_that_answered_with_all_that_it_took(history: InProcess) -> None:
    await tell(history, await decided(history), attempt("1", **FAILED), attempt("2", "large@b", **USED))
    assert operations(history) == {("eu", "large@b", "accepted"): 1}
    assert rows(history, "router_operation_fallbacks", "policy", "route") == {("eu", "large@b"): 1}
    assert rows(history, "router_operation_attempts", "policy", "route") == {("eu", "large@b"): 2}
    assert rows(history, "router_operation_cost", "route") == {("large@b",): pytest.approx(0.031)}
    assert rows(history, "router_attempts", "endpoint", "class") == {
        ("small@a", "transient"): 1,
        ("large@b", "success"): 1,
    }
    assert history.counted("router_attempt_latency_seconds_count", endpoint="small@a") == 0


async def test_only_accepted_answers_are_fallbacks(history: InProcess) -> None:
    for outcome in ("failed", "rejected", "ambiguous", "cancelled", "deadline_exhausted"):
        attempts = attempt("1", **FAILED), attempt("2", "large@b", **FAILED)
        await tell(history, await decided(history), *attempts, outcome=outcome)
        assert operations(history)["eu", "large@b", outcome] == 1
    assert rows(history, "router_operation_fallbacks", "policy", "route") == {}


async def test_the_same_report_again_counts_nothing(history: InProcess) -> None:
    trace_id = await decided(history)
    for _ in range(3):
        await tell(history, trace_id, attempt("1", **USED))
    assert operations(history) == {("eu", "small@a", "accepted"): 1}
    assert rows(history, "router_operation_attempts", "route") == {("small@a",): 1}
    assert history.counted("router_attempt_latency_seconds_count", endpoint="small@a") == 1


async def test_the_same_report_many_times_at_once_counts_once(history: InProcess) -> None:
    trace_id = await decided(history)
    await asyncio.gather(*(tell(history, trace_id, attempt("1", **USED)) for _ in range(20)))
    assert operations(history) == {("eu", "small@a", "accepted"): 1}
    assert rows(history, "router_operation_attempts", "route") == {("small@a",): 1}


async def test_an_operation_told_bit_by_bit_ends_once(history: InProcess) -> None:
    trace_id = await decided(history)
    await tell(history, trace_id, attempt("1", **FAILED), outcome="failed")
    await tell(history, trace_id, attempt("2", **FAILED), outcome="failed")
    assert operations(history) == {("eu", "small@a", "failed"): 1}
    assert rows(history, "router_operation_attempts", "route") == {("small@a",): 2}


async def test_one_that_changes_its_outcome_counts_under_each_and_its_attempts_once(history: InProcess) -> None:
    trace_id = await decided(history)
    first, second = attempt("1", **FAILED), attempt("2", "large@b", **USED)
    await tell(history, trace_id, first, outcome="failed")
    await tell(history, trace_id, first, second)
    await tell(history, trace_id, outcome="failed")
    assert operations(history) == {("eu", "small@a", "failed"): 1, ("eu", "large@b", "accepted"): 1}
    assert rows(history, "router_operation_attempts", "route") == {("small@a",): 1, ("large@b",): 1}
    assert rows(history, "router_operation_cost", "route") == {("small@a",): 0.001, ("large@b",): pytest.approx(0.03)}


async def test_an_outcome_without_attempts_has_the_route_that_is_known(history: InProcess) -> None:
    await tell(history, await decided(history), outcome="deadline_exhausted")
    trace_id = await decided(history)
    await tell(history, trace_id, attempt("1", **FAILED), outcome="failed")
    await tell(history, trace_id, outcome="ambiguous")
    assert operations(history) == {
        ("eu", "(none)", "deadline_exhausted"): 1,
        ("eu", "small@a", "failed"): 1,
        ("eu", "small@a", "ambiguous"): 1,
    }


async def test_a_cancelled_attempt_is_neither_a_success_nor_a_failure(history: InProcess) -> None:
    await tell(history, await decided(history), attempt("1", latency_ms=40), outcome="cancelled")
    assert rows(history, "router_attempts", "endpoint", "class") == {("small@a", "none"): 1}
    assert rows(history, "router_attempt_latency_seconds", "endpoint") == {}


async def test_what_a_report_brings_of_another_catalogue_is_of_others(history: InProcess) -> None:
    """Its policy is gone, one endpoint too, and the costs before were in the same currency."""
    early, late = await decided(history), await decided(history)
    await tell(history, early, attempt("1", **FAILED), attempt("2", "large@b", **USED))
    await history.serve(EVERYTHING_CHANGED)
    assert operations(history) == {}
    await tell(history, late, attempt("1", **FAILED), attempt("2", "large@b", **USED))
    assert operations(history) == {("(other)", "(other)", "accepted"): 1}
    assert rows(history, "router_attempts", "policy", "endpoint") == {
        ("(other)", "small@a"): 1,
        ("(other)", "(other)"): 1,
    }


async def test_costs_of_two_currencies_are_never_added(history: InProcess) -> None:
    await tell(history, await decided(history, "world"), attempt("1", "large@us", **USED))
    same = rows(history, "router_operation_cost", "route", "currency")
    assert same == {("large@us", "EUR"): pytest.approx(0.01)}
    await history.serve((history.folder / "catalog.yaml").read_text().replace("EUR", "NOK"))
    assert rows(history, "router_operation_cost", "route", "currency") == {}
    assert operations(history) == {("world", "large@us", "accepted"): 1}
    await tell(history, await decided(history, "world"), attempt("1", "large@us", **USED))
    assert set(rows(history, "router_operation_cost", "route", "currency")) == {("large@us", "NOK")}


async def test_a_report_that_was_not_taken_counts_no_attempt(history: InProcess) -> None:
    trace_id = await decided(history)
    await failure(history.router.Report(report(trace_id, attempt("1", "large@us"))))
    history.store.lost = True
    await failure(history.router.Report(report(trace_id, attempt("1"))))
    assert operations(history) == {}
    assert rows(history, "router_attempts", "endpoint") == {}
