"""Report: what came of a decision, told by whoever made the calls (docs/reliability.md, Reports)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from router_service.domain.endpoint import MILLISECONDS
from router_service.domain.fields import Field, Table, read_fields, table
from router_service.domain.meanings import Instant
from router_service.domain.money import LIMIT_MAX, TOKENS_MAX
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.readers import Cost, Text, Whole, Word

OUTCOMES = ("accepted", "rejected", "failed", "deadline_exhausted", "ambiguous", "cancelled")
FAILURE_CLASSES = ("transient", "ambiguous", "permanent", "incompatible", "invalid_response")
ATTEMPTS_MAX = 16  # more than any failover list with its second tries

TRACE_ID = Text(folded=True, pattern="[0-9a-f]{32}", pattern_cure="use the trace_id of the decision, 32 hex digits")
_TOKENS = Whole(0, TOKENS_MAX, "tokens")

ATTEMPT_FIELDS: Table = table(
    Field("attempt_id", Text(), "the caller's own id of the attempt", required=True),
    Field("endpoint_id", Text(), "the endpoint that was called", required=True),
    Field("started_at", Instant(), "when the call began"),
    Field("latency_ms", MILLISECONDS, "how long it took"),
    Field("time_to_first_token_ms", MILLISECONDS, "until the first token"),
    Field("failure_class", Word(FAILURE_CLASSES), "what the failure was; empty for a success"),
    Field("status_code", Whole(0, 999), "the status code of the answer"),
    Field("input_tokens", _TOKENS, "tokens of the prompt, as counted by the endpoint"),
    Field("output_tokens", _TOKENS, "tokens of the answer, as counted by the endpoint"),
    Field("cost", Cost(LIMIT_MAX), "what it cost, where the caller knows better"),
    Field("finish_reason", Text(), "why the answer ended"),
    Field("validation_result", Text(), "what acceptance said of the answer"),
    Field("retry_after_ms", MILLISECONDS, "how long the endpoint said to wait (Retry-After)"),
    Field("error_code", Text(), "the error code of the answer's body, such as insufficient_quota"),
    Field("timeout_ms", MILLISECONDS, "the time-out that the caller had set"),
)
REPORT_FIELDS: Table = table(
    Field("trace_id", TRACE_ID, "the trace_id of the decision", required=True),
    Field("operation_id", Text(), "the caller's own id of the operation"),
    Field("outcome", Word(OUTCOMES), "how it ended", required=True),
)


class ReportedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One call of one candidate; instants and times in ms, `cost` in 10⁻¹². None is "not told"."""

    attempt_id: str
    endpoint_id: str
    started_at: int | None = None
    latency_ms: int | None = None
    time_to_first_token_ms: int | None = None
    failure_class: str = ""
    status_code: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: int | None = None
    finish_reason: str = ""
    validation_result: str = ""
    retry_after_ms: int | None = None
    error_code: str = ""
    timeout_ms: int | None = None


class OutcomeReport(msgspec.Struct, frozen=True, kw_only=True):
    """The attempts of one decision and how it ended."""

    trace_id: str
    outcome: str
    operation_id: str = ""
    attempts: tuple[ReportedAttempt, ...] = ()

    @classmethod
    def read(cls, raw: Mapping[str, object], attempts: list[Mapping[str, object]]) -> OutcomeReport:
        """The report of raw fields. Raises InvalidValue with every problem at once, attempts by their place."""
        values, problems = read_fields(REPORT_FIELDS, raw)
        made = []
        if len(attempts) > ATTEMPTS_MAX:
            problems.append(
                Problem("attempts", f"{len(attempts)} attempts are too many", f"report at most {ATTEMPTS_MAX} at once")
            )
        for number, one in enumerate(attempts[:ATTEMPTS_MAX]):
            read, wrong = read_fields(ATTEMPT_FIELDS, one)
            problems += [problem.under(f"attempts[{number}]") for problem in wrong]
            if not wrong:
                made.append(ReportedAttempt(**read))
        repeated = {one.attempt_id for one in made if sum(one.attempt_id == other.attempt_id for other in made) > 1}
        problems += [
            Problem("attempts", f'attempt_id "{one}" is used twice', "give every attempt an id of its own")
            for one in sorted(repeated)
        ]
        if problems:
            raise InvalidValue("report", problems)
        return cls(**values, attempts=tuple(made))
