"""Reports between the wire and the domain: what a caller tells of a decision, and what a trace tells again."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from router_service.asks import InvalidRequest
from router_service.domain.money import COST_UNIT, nearest_double
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.report import ATTEMPTS_MAX, REPORT_FIELDS, OutcomeReport, ReportedAttempt
from router_service.store.interface import Report
from router_service.v1 import report_pb2
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.read import fields_of, unknown_fields
from router_service.wire.write import write_timestamp

_PLACE = "report"
_DECODER = msgspec.json.Decoder(ReportedAttempt)
# Fields that a message has under the same name and in the same form.
_SAME = tuple(name for name in ReportedAttempt.__struct_fields__ if name not in ("started_at", "cost"))


def read_report(message: pb.ReportRequest | pb.ReportStreamRequest) -> OutcomeReport:
    """What is reported. Raises InvalidRequest with every field that makes no sense, by its place in the message."""
    report = message.report
    problems = unknown_fields(message, "") + unknown_fields(report, _PLACE)
    # A report of too many attempts is refused, so what stands in those beyond is not looked at.
    looked_at = report.attempts[:ATTEMPTS_MAX]
    for number, attempt in enumerate(looked_at):
        problems += unknown_fields(attempt, f"{_PLACE}.attempts[{number}]")
    if report.caller:
        problems.append(Problem(f"{_PLACE}.caller", "the service itself knows who reports", "leave it out"))
    fields = {name: getattr(report, name) for name in REPORT_FIELDS}
    attempts: list[Mapping[str, object]] = [fields_of(attempt) for attempt in looked_at]
    attempts += [{}] * (len(report.attempts) - len(looked_at))
    try:
        read = OutcomeReport.read(fields, attempts)
    except InvalidValue as invalid:
        raise InvalidRequest([*problems, *under_report(invalid.problems)]) from None
    if problems:
        raise InvalidRequest(problems)
    return read


def under_report(problems: tuple[Problem, ...]) -> list[Problem]:
    """Problems of a report by their places in the message that carried it."""
    return [problem.under(_PLACE) for problem in problems]


def write_report(report: Report) -> report_pb2.Report:
    """A report as it was taken: its attempts that were new, the outcome, who reported, and the operation, if named."""
    return report_pb2.Report(
        trace_id=report.trace_id,
        operation_id=report.operation_id,
        outcome=report.outcome,
        caller=report.caller,
        attempts=[_write_attempt(_DECODER.decode(attempt.body)) for attempt in report.attempts],
    )


def _write_attempt(attempt: ReportedAttempt) -> report_pb2.Attempt:
    same = {name: getattr(attempt, name) for name in _SAME}
    cost = None if attempt.cost is None else nearest_double(attempt.cost, COST_UNIT)
    return report_pb2.Attempt(**same, started_at=write_timestamp(attempt.started_at), cost=cost)
