"""Reports over the wire: taken once, refused outside the decision's list, settled on its day and at its prices."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from router_service.domain.money import MILLION
from router_service.server import history_service
from router_service.v1 import error_reason_pb2 as reason_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest
from tests.server.in_process import EVERYTHING_CHANGED, NOW, InProcess, failure, forgetful, history

__all__ = ["forgetful", "history"]  # fixtures

NOT_FOUND, INVALID = grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
NOBODYS = "0" * 32
CENT = MILLION * 10_000  # in 10⁻¹²


async def decided(history: InProcess, **fields: Any) -> str:
    """The trace_id of a decision, which lists small@a and then large@b."""
    answer = await history.router.Decide(pb.DecideRequest(**fields))
    return str((answer.decision if answer.HasField("decision") else answer.refusal).trace_id)


def report(trace_id: str, *attempts: Attempt, outcome: str = "accepted") -> pb.ReportRequest:
    return pb.ReportRequest(report=Report(trace_id=trace_id, outcome=outcome, attempts=attempts))


def attempt(attempt_id: str, endpoint_id: str = "small@a", **fields: Any) -> Attempt:
    return Attempt(attempt_id=attempt_id, endpoint_id=endpoint_id, **fields)


async def reported(history: InProcess, trace_id: str) -> list[Report]:
    return list((await history.router.GetTrace(pb.GetTraceRequest(trace_id=trace_id))).trace.reports)


async def test_a_report_is_taken_once(history: InProcess) -> None:
    trace_id = await decided(history)
    first = report(trace_id, attempt("1", failure_class="transient"), attempt("2", "large@b"))
    assert await history.router.Report(first) == pb.ReportResponse(accepted=2)
    assert await history.router.Report(first) == pb.ReportResponse(duplicates=2)
    more = report(trace_id, attempt("2", "large@b"), attempt("3"))
    assert await history.router.Report(more) == pb.ReportResponse(accepted=1, duplicates=1)
    kept = await reported(history, trace_id)
    assert [[one.attempt_id for one in each.attempts] for each in kept] == [["1", "2"], ["3"]]
    first.report.caller = "local"
    assert kept[0] == first.report


async def test_the_same_attempt_id_of_another_trace_is_another_attempt(history: InProcess) -> None:
    for _ in range(2):
        taken = await history.router.Report(report(await decided(history), attempt("1")))
        assert taken == pb.ReportResponse(accepted=1)


async def test_an_endpoint_that_was_not_listed_is_refused_and_counted(history: InProcess) -> None:
    """large@us exists, and the policy of the decision did not let it in; nothing of the report is taken."""
    trace_id = await decided(history)
    outside = report(trace_id, attempt("1"), attempt("2", "large@us"), attempt("3", "nobody's"))
    code, reason, fields = await failure(history.router.Report(outside))
    assert (code, reason) == (INVALID, "ENDPOINT_NOT_LISTED")
    assert set(fields) == {"report.attempts[1].endpoint_id", "report.attempts[2].endpoint_id"}
    assert "large@us" in fields["report.attempts[1].endpoint_id"]
    assert await reported(history, trace_id) == []
    assert history.counted("router_report_unlisted_endpoints_total") == 2
    assert history.counted("router_reports_total", outcome="accepted", result="unlisted_endpoint") == 1
    assert await history.router.Report(report(trace_id, attempt("1"))) == pb.ReportResponse(accepted=1)


async def test_a_refusal_lists_nothing(history: InProcess) -> None:
    trace_id = await decided(history, request=RouteRequest(model="no-such-model"))
    assert (await failure(history.router.Report(report(trace_id, attempt("1")))))[1] == "ENDPOINT_NOT_LISTED"
    assert await history.router.Report(report(trace_id, outcome="failed")) == pb.ReportResponse()


async def test_a_trace_that_nobody_has(history: InProcess) -> None:
    code, reason, _ = await failure(history.router.Report(report(NOBODYS, attempt("1"))))
    assert (code, reason) == (NOT_FOUND, "TRACE_NOT_FOUND")
    assert history.counted("router_reports_total", outcome="accepted", result="unknown_trace") == 1


async def test_every_bad_field_is_named(history: InProcess) -> None:
    wrong = report("mine", attempt("", cost=-1), outcome="lucky")
    code, reason, fields = await failure(history.router.Report(wrong))
    assert (code, reason) == (INVALID, "INVALID_REQUEST")
    assert set(fields) == {
        "report.trace_id",
        "report.outcome",
        "report.attempts[0].attempt_id",
        "report.attempts[0].cost",
    }
    assert history.counted("router_reports_total", outcome="(unread)", result="invalid") == 1


async def test_one_bad_report_never_ends_a_stream(history: InProcess) -> None:
    first, second = await decided(history), await decided(history)
    items = [
        report(first, attempt("1")),
        report(NOBODYS, attempt("1")),
        report(first, attempt("1"), outcome="failed"),
        report("x", outcome="?"),
        report(second, attempt("1", "large@us")),
        report(second, attempt("1"), attempt("2", "large@b")),
    ]
    answer = await history.router.ReportStream(pb.ReportStreamRequest(report=one.report) for one in items)
    assert (answer.accepted, answer.duplicates, answer.more_rejected) == (3, 1, 0)
    assert [(one.position, one.trace_id, one.error.reason) for one in answer.rejected] == [
        (1, NOBODYS, reason_pb.ERROR_REASON_TRACE_NOT_FOUND),
        (3, "x", reason_pb.ERROR_REASON_INVALID_REQUEST),
        (4, second, reason_pb.ERROR_REASON_ENDPOINT_NOT_LISTED),
    ]
    assert {one.field for one in answer.rejected[1].error.violations} == {"report.trace_id", "report.outcome"}
    assert answer.rejected[2].error.violations[0].field == "report.attempts[0].endpoint_id"
    assert [one.error.code for one in answer.rejected] == [code.value[0] for code in (NOT_FOUND, INVALID, INVALID)]


async def test_an_empty_stream_has_an_answer(history: InProcess) -> None:
    assert await history.router.ReportStream(iter(())) == pb.ReportStreamResponse()


async def test_a_stream_of_nonsense_does_not_make_its_answer_grow(
    history: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_service, "REJECTED_BYTES", 10_000)
    wrong = pb.ReportStreamRequest(report=Report(trace_id="x" * 1000, outcome="?"))
    answer = await history.router.ReportStream(wrong for _ in range(500))
    assert answer.ByteSize() <= 10_500
    assert len(answer.rejected) > 5
    assert len(answer.rejected) + answer.more_rejected == 500


async def test_a_fault_in_one_report_stays_with_it(history: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    trace_id = await decided(history)
    assert await reported(history, trace_id) == []
    taking = history.store.report

    async def faulty(one: Any) -> Any:
        if one.outcome == "failed":
            raise RuntimeError("a secret")
        return await taking(one)

    monkeypatch.setattr(type(history.store), "report", lambda _self, one: faulty(one))
    outcomes = ("accepted", "failed", "rejected")
    items = [
        pb.ReportStreamRequest(report=report(trace_id, attempt(outcome), outcome=outcome).report)
        for outcome in outcomes
    ]
    answer = await history.router.ReportStream(iter(items))
    assert answer.accepted == 2
    (rejected,) = answer.rejected
    assert (rejected.position, rejected.error.reason) == (1, reason_pb.ERROR_REASON_INTERNAL)
    assert "secret" not in rejected.error.message
    assert history.counted("router_reports_total", outcome="failed", result="fault") == 1


async def test_what_became_of_reports_is_counted(history: InProcess) -> None:
    trace_id = await decided(history)
    for outcome in ("failed", "accepted", "accepted"):
        await history.router.Report(report(trace_id, attempt(outcome), outcome=outcome))
    assert history.counted("router_reports_total", outcome="failed", result="accepted") == 1
    assert history.counted("router_reports_total", outcome="accepted", result="accepted") == 1
    assert history.counted("router_reports_total", outcome="accepted", result="duplicate") == 1
    assert history.counted("router_rpc_duration_seconds_count", method="Report", code="OK") == 3


TOKENS = RouteRequest(input_tokens=1000, output_tokens=1000)  # 0.003 on small@a, 0.03 on large@b


async def test_a_report_after_the_day_settles_on_the_day_of_its_decision(history: InProcess) -> None:
    history.now = NOW + 15 * 3_600_000 - 1  # a millisecond before midnight in Berlin
    trace_id = await decided(history, policy_id="capped", request=TOKENS)
    assert (await history.store.spending("capped", "2027-01-15")).reserved == 3 * CENT
    history.now += 60_000
    used = attempt("1", input_tokens=1000, output_tokens=500)
    assert await history.router.Report(report(trace_id, used)) == pb.ReportResponse(accepted=1)
    spent = await history.store.spending("capped", "2027-01-15")
    assert (spent.settled, spent.reserved) == (2 * CENT // 10, 0)
    assert (await history.store.spending("capped", "2027-01-16")).total == 0


async def test_a_report_settles_at_the_prices_of_its_own_catalogue(history: InProcess) -> None:
    trace_id = await decided(history, policy_id="capped", request=TOKENS)
    await history.serve(EVERYTHING_CHANGED)
    failed = attempt("1", "large@b", failure_class="transient")
    assert await history.router.Report(
        report(trace_id, failed, attempt("2", input_tokens=1000, output_tokens=0))
    ) == pb.ReportResponse(accepted=2)
    assert (await history.store.spending("capped", "2027-01-15")).settled == CENT // 10


async def test_a_trace_that_is_not_kept_goes_with_its_report(history: InProcess) -> None:
    trace_id = await decided(history, policy_id="brief")
    assert (await history.router.GetTrace(pb.GetTraceRequest(trace_id=trace_id))).trace.outcome == "decided"
    assert await history.router.Report(report(trace_id, attempt("1"))) == pb.ReportResponse(accepted=1)
    assert (await failure(history.router.GetTrace(pb.GetTraceRequest(trace_id=trace_id))))[1] == "TRACE_NOT_FOUND"


async def test_a_lost_store_takes_no_report_and_stops_no_decision(history: InProcess) -> None:
    trace_id = await decided(history)
    history.store.lost = True
    code, reason, _ = await failure(history.router.Report(report(trace_id, attempt("1"))))
    assert (code, reason) == (UNAVAILABLE, "STORE_LOST")
    answer = await history.router.ReportStream(iter([pb.ReportStreamRequest(report=report(trace_id).report)]))
    assert [one.error.reason for one in answer.rejected] == [reason_pb.ERROR_REASON_STORE_LOST]
    later = await decided(history)
    history.store.lost = False
    for one in (trace_id, later):
        assert await history.router.Report(report(one, attempt("1"))) == pb.ReportResponse(accepted=1)
    assert history.dropped == 0


async def test_without_a_store_nothing_is_taken(forgetful: InProcess) -> None:
    code, reason, _ = await failure(forgetful.router.Report(report(await decided(forgetful), attempt("1"))))
    assert (code, reason) == (UNAVAILABLE, "NO_STORE")
    assert forgetful.counted("router_reports_total", outcome="accepted", result="no_store") == 1


async def test_a_stream_of_unknown_traces_waits_for_one_of_them_only(history: InProcess) -> None:
    reports = [Report(trace_id=f"{number:032x}", outcome="failed") for number in range(100)]
    items = (pb.ReportStreamRequest(report=one) for one in reports)
    # One after the other they would take 40 seconds.
    answer = await history.router.ReportStream(items, timeout=20)
    assert [one.position for one in answer.rejected] == list(range(100))
