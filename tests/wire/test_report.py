"""Reports on their way in and back out: every bad field at once by its place, and nothing is lost."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from router_service.asks import InvalidRequest
from router_service.domain.report import ATTEMPTS_MAX, FAILURE_CLASSES, OUTCOMES, OutcomeReport, ReportedAttempt
from router_service.store import interface as store
from router_service.v1 import report_pb2
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.report import read_report, write_report

TRACE_ID = "0123456789abcdef" * 2
FULL: dict[str, Any] = {
    "attempt_id": "a-1",
    "endpoint_id": "large@b",
    "started_at": Timestamp(seconds=1_800_000_000, nanos=123_000_000),
    "latency_ms": 700,
    "time_to_first_token_ms": 0,
    "failure_class": "invalid_response",
    "status_code": 200,
    "input_tokens": 1000,
    "output_tokens": 0,
    "cost": 0.012345,
    "finish_reason": "stop",
    "validation_result": "schema",
    "retry_after_ms": 0,
    "error_code": "insufficient_quota",
    "timeout_ms": 2**32 - 1,
}


def message(*attempts: dict[str, Any], **fields: Any) -> pb.ReportRequest:
    report = {"trace_id": TRACE_ID, "outcome": "accepted"} | fields
    return pb.ReportRequest(report=report_pb2.Report(**report, attempts=attempts))


def problems_of(request: pb.ReportRequest | pb.ReportStreamRequest) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as caught:
        read_report(request)
    return {problem.field: problem.message for problem in caught.value.problems}


def stored(report: OutcomeReport) -> store.Report:
    """The report as a store keeps it."""
    attempts = tuple(
        store.Attempt(attempt_id=one.attempt_id, endpoint_id=one.endpoint_id, cost=0, body=msgspec.json.encode(one))
        for one in report.attempts
    )
    return store.Report(trace_id=report.trace_id, policy_id="eu", at=0, outcome=report.outcome, attempts=attempts)


def test_a_report_becomes_a_value() -> None:
    read = read_report(message(FULL, operation_id=" op "))
    assert read == OutcomeReport(
        trace_id=TRACE_ID,
        outcome="accepted",
        operation_id="op",
        attempts=(
            ReportedAttempt(
                attempt_id="a-1",
                endpoint_id="large@b",
                started_at=1_800_000_000_123,
                latency_ms=700,
                time_to_first_token_ms=0,
                failure_class="invalid_response",
                status_code=200,
                input_tokens=1000,
                output_tokens=0,
                cost=read.attempts[0].cost,
                finish_reason="stop",
                validation_result="schema",
                retry_after_ms=0,
                error_code="insufficient_quota",
                timeout_ms=2**32 - 1,
            ),
        ),
    )


def test_absent_is_not_zero() -> None:
    (attempt,) = read_report(message({"attempt_id": "a", "endpoint_id": "e"})).attempts
    given = msgspec.structs.asdict(attempt)
    assert {name for name, value in given.items() if value not in (None, "")} == {"attempt_id", "endpoint_id"}


def test_what_was_reported_comes_back() -> None:
    sent = message(FULL, {"attempt_id": "a-2", "endpoint_id": "small@a"}, outcome="failed")
    assert write_report(stored(read_report(sent))) == sent.report


def test_every_field_of_the_wire_is_read_and_written() -> None:
    assert set(FULL) == set(report_pb2.Attempt.DESCRIPTOR.fields_by_name) == set(ReportedAttempt.__struct_fields__)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("failure_class", ["", *FAILURE_CLASSES])
def test_every_word_is_taken(outcome: str, failure_class: str) -> None:
    read = read_report(message(FULL | {"failure_class": failure_class}, outcome=outcome.upper()))
    assert (read.outcome, read.attempts[0].failure_class) == (outcome, failure_class)


def test_a_stream_has_the_same_reports() -> None:
    report = message(FULL).report
    assert read_report(pb.ReportStreamRequest(report=report)) == read_report(pb.ReportRequest(report=report))


def test_every_bad_field_is_named_at_once() -> None:
    wrong = {
        "started_at": Timestamp(seconds=-1),
        "latency_ms": 2**32 - 1,
        "failure_class": "sad",
        "status_code": 1000,
        "input_tokens": 2 * 10**8,
        "cost": float("nan"),
        "finish_reason": "x" * 257,
    }
    found = problems_of(message(FULL, wrong, trace_id="no id", outcome="lucky", operation_id="\x07"))
    assert set(found) - {"report.attempts[1].latency_ms"} == {
        "report.trace_id",
        "report.outcome",
        "report.operation_id",
        "report.attempts[1].attempt_id",
        "report.attempts[1].endpoint_id",
        *(f"report.attempts[1].{name}" for name in wrong if name != "latency_ms"),
    }


def test_a_report_that_is_not_there_lacks_what_it_must_have() -> None:
    assert set(problems_of(pb.ReportRequest())) == {"report.trace_id", "report.outcome"}


def test_an_attempt_id_stands_for_one_attempt() -> None:
    assert "used twice" in problems_of(message(FULL, FULL))["report.attempts"]


def test_too_many_attempts_are_refused_and_not_read() -> None:
    one = {"endpoint_id": "e", "cost": -1.0}
    found = problems_of(message(*({"attempt_id": str(number)} | one for number in range(100_000))))
    assert "100000 attempts are too many" in found["report.attempts"]
    assert len(found) == 1 + ATTEMPTS_MAX


def test_fields_of_a_later_version_are_not_passed_over() -> None:
    later = b"\xfa\x01\x05" + b"eager"  # field 31 of five bytes
    report = message(FULL).report.SerializeToString()
    attempt = report_pb2.Attempt(attempt_id="b", endpoint_id="e").SerializeToString() + later
    report += later + b"\x1a" + bytes([len(attempt)]) + attempt
    raw = b"\x0a" + bytes([len(report) & 0x7F | 0x80, len(report) >> 7]) + report + later
    found = problems_of(pb.ReportRequest.FromString(raw))
    assert set(found) == {"message", "report", "report.attempts[1]"}
    assert all("field number 31" in text for text in found.values())
