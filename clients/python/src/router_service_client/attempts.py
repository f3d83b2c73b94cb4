"""One attempt: what a call is given, what came of it, and what is reported of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp

from router_service_client.classification import Verdict
from router_service_client.seen import Seen
from router_service_client.v1.report_pb2 import Attempt
from router_service_client.v1.route_pb2 import Candidate, Decision

TEXT_MAX = 200
"""Characters of a text that is reported."""
_UINT32_MAX = 2**32 - 1


class Try:
    """What a call is given.

    Attributes:
        candidate: where to send the request: its endpoint_id, model, provider, region and so on.
        decision: what lists the candidate: its trace_id, policy_id, sentence and so on.
        number: 1 for the first attempt; the attempt_id of the report.
        timeout_ms: how long the call may take, None without a deadline; `timeout` is the same in seconds.
    """

    def __init__(
        self,
        candidate: Candidate,
        number: int,
        timeout_ms: int | None,
        clock: Callable[[], float],
        started_at: datetime,
        *,
        decision: Decision | None = None,
        rest_ms: int | None = None,
    ) -> None:
        """`rest_ms` is all that can still be spent, this attempt's time and that of those after it."""
        self.candidate = candidate
        self.decision = decision or Decision()
        self.number = number
        self.timeout_ms = timeout_ms
        self._rest_ms = rest_ms
        self._passed_on = False
        self._extended: Callable[[float], None] = lambda _: None
        self._clock = clock
        self._begun = clock()
        self._ended: float | None = None
        self._told = Attempt(attempt_id=str(number), endpoint_id=candidate.endpoint_id, timeout_ms=timeout_ms)
        started = Timestamp()
        # As the service keeps it: in whole milliseconds.
        started.FromDatetime(started_at.replace(microsecond=started_at.microsecond // 1000 * 1000))
        self._told.started_at.CopyFrom(started)

    @property
    def endpoint_id(self) -> str:
        """The candidate's endpoint_id."""
        return self.candidate.endpoint_id

    @property
    def timeout(self) -> float | None:
        """How long the call may take, in seconds; None without a deadline."""
        return None if self.timeout_ms is None else self.timeout_ms / 1000

    @property
    def left(self) -> float | None:
        """How long the call may still take from now on, in seconds; None without a deadline."""
        return None if self.timeout is None else max(0.0, self.timeout - (self._clock() - self._begun))

    @property
    def passed_on(self) -> bool:
        """Set it as soon as a part of the answer went on to somebody: nothing is tried after that.

        So the call may then take all the time that is left, of which a share was kept for the attempts after it.
        """
        return self._passed_on

    @passed_on.setter
    def passed_on(self, value: bool) -> None:
        extends = value and not self._passed_on and self.timeout_ms is not None and self._rest_ms is not None
        self._passed_on = value
        if extends:
            self.timeout_ms = self._rest_ms
            self._extended(self.left or 0.0)

    def when_extended(self, extended: Callable[[float], None]) -> None:
        """Said by the loop that watches over the time: called with the seconds that are left where there is more."""
        self._extended = extended

    @property
    def latency_ms(self) -> int:
        """How long the call took, or has taken until now."""
        return self._since_begun(self._clock() if self._ended is None else self._ended)

    def first_token(self) -> None:
        """Say this when the first token came: it is what the service learns an endpoint's latency from."""
        if not self._told.HasField("time_to_first_token_ms"):
            self._told.time_to_first_token_ms = self._since_begun(self._clock())

    def tell(
        self,
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cost: float | None = None,
        finish_reason: str | None = None,
        status_code: int | None = None,
    ) -> None:
        """What the endpoint says of its answer, for the report; None is "not told".

        Args:
            input_tokens: tokens of the prompt, as the endpoint counted them.
            output_tokens: tokens of the answer, as the endpoint counted them.
            cost: what it cost in the catalogue's currency, where you know better than tokens × prices.
            finish_reason: why the answer ended: `stop`, `length`, …
            status_code: the status of the answer.
        """
        given: dict[str, Any] = {
            "input_tokens": input_tokens,
            "output_tokens": output_tokens,
            "cost": cost,
            "finish_reason": finish_reason,
            "status_code": status_code,
        }
        self._told.MergeFrom(Attempt(**{name: value for name, value in given.items() if value is not None}))

    def end(self) -> None:
        """Said by the loop when the call is over; what acceptance does after it is no latency of the endpoint."""
        if self._ended is None:
            self._ended = self._clock()

    def told(self, verdict: Verdict | None = None, validation_result: str = "") -> Attempt:
        """What is reported of it: a success, or what the verdict says; with what acceptance said of it."""
        told = {} if verdict is None else verdict.reported()
        self._told.MergeFrom(
            Attempt(latency_ms=self.latency_ms, validation_result=validation_result[:TEXT_MAX], **told)
        )
        return self._told

    def _since_begun(self, moment: float) -> int:
        return min(_UINT32_MAX, max(0, round((moment - self._begun) * 1000)))


class Call(NamedTuple):
    """Make this attempt, and say what came of it: Answered or Failed."""

    attempt: Try


class Wait(NamedTuple):
    """Wait so many milliseconds, and say nothing, or Failed where the caller cancelled meanwhile."""

    ms: int


Step = Call | Wait


class Answered(NamedTuple):
    """The call brought an answer; `validation_result` is `accepted`, or empty where acceptance was not asked."""

    validation_result: str = ""


class Failed(NamedTuple):
    """The call brought no answer, or one that acceptance has something against."""

    seen: Seen
