"""RouterClient.run: decides, calls the candidates one after the other by the rules, and reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar, Unpack

from router_service_client.attempts import Answered, Failed, Try, Wait
from router_service_client.messages import RouteFields, decide_request
from router_service_client.report_thread import ReportThread
from router_service_client.runs import Course, Run
from router_service_client.runtime import Runtime
from router_service_client.v1.route_pb2 import Candidate, RouteRequest
from router_service_client.v1.router_service_pb2 import DecideRequest, DecideResponse, Inline

T = TypeVar("T")


class Running(ABC):
    """What runs requests, with a queue of reports of its own."""

    reports: ReportThread

    @abstractmethod
    def _decided(self, message: DecideRequest) -> DecideResponse:
        """A failover list or a refusal, within the request's own deadline. Raises RouterError."""

    def run(
        self,
        request: RouteRequest | None,
        call: Callable[[Try], T],
        *,
        accept: Callable[[T], str | None] | None = None,
        replayable: bool = False,
        can_call: Callable[[Candidate], bool] | None = None,
        policy_id: str = "",
        request_id: str = "",
        workload: str = "",
        data_class: str = "",
        operation_id: str = "",
        inline: Inline | None = None,
        runtime: Runtime | None = None,
        **fields: Unpack[RouteFields],
    ) -> Run[T]:
        """Decides, calls the candidates in order until one answers, and reports in the background.

        Args:
            request: what the request needs, or None; `fields` (`model=…, deadline_ms=…`) go before its own.
            call: makes one attempt, within `attempt.timeout` seconds and without retries of its own (the OpenAI SDK's
                are turned off by `max_retries=0`). Returns the answer, or raises: CallFailed, or what an HTTP library
                raises (`seen_of_exception` tells which are known).
            accept: what it has against an answer, in words that hold nothing of it; None or empty is accepted.
            replayable: whether the operation may be sent again where it is not known what became of the first time.
            can_call: which candidates you can call at all; the others are passed over as if they were not listed.
            policy_id: as of `decide`, and so are request_id, workload, data_class, operation_id and inline.
            request_id: an id of the caller's own, echoed in the answer.
            workload: a workload that the request inherits.
            data_class: the class of data that the request holds.
            operation_id: an id of the caller's own that is kept in the trace and the report.
            inline: candidates of the caller's own; such a run is not reported, since it leaves no trace.
            runtime: time, sleep and chance.
            fields: the fields of RouteRequest by name.

        Returns:
            What came of it; `run.answer()` is the answer or raises NotAnswered. A refusal is returned too.

        Raises:
            RouterError: there is no decision. There is no default endpoint: nothing was called.
            Exception: whatever the call raised that is no failure of an attempt; it is reported and raised again.
        """
        runtime = runtime or Runtime()
        begun = runtime.clock()
        message = decide_request(
            request,
            fields,
            policy_id=policy_id,
            request_id=request_id,
            workload=workload,
            data_class=data_class,
            operation_id=operation_id,
            inline=inline,
        )
        answer = self._decided(message)
        course: Course[T] = Course(message.request, answer, begun, runtime, replayable=replayable, can_call=can_call)
        step = course.next()
        while step is not None:
            ended = _wait(course, step, runtime) if isinstance(step, Wait) else _try(course, step.attempt, call, accept)
            step = course.next(ended)
        run = course.ended(operation_id, reported=inline is None)
        if run.report is not None:
            self.reports.put(run.report)
        if course.error is not None:
            raise course.error
        return run


def _wait(course: Course[T], step: Wait, runtime: Runtime) -> Failed | None:
    try:
        runtime.sleep(step.ms / 1000)
    except BaseException as error:  # noqa: BLE001 - reported first, and raised again by run
        return course.failed(error, None)
    return None


def _try(
    course: Course[T], attempt: Try, call: Callable[[Try], T], accept: Callable[[T], str | None] | None
) -> Answered | Failed:
    try:
        result = call(attempt)
        attempt.end()
        return course.answered(result, None if accept is None else accept(result), checked=accept is not None)
    except BaseException as error:  # noqa: BLE001 - reported first, and raised again by run
        attempt.end()
        return course.failed(error, attempt)
