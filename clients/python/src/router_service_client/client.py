"""RouterClient: the service's RPCs as methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from types import TracebackType
from typing import Any, Self, Unpack

import grpc
from google.protobuf.message import Message

from router_service_client.channels import DEFAULT_TARGET, DEFAULT_TIMEOUT, checked_timeout, open_channel
from router_service_client.errors import router_errors
from router_service_client.messages import (
    ReportFields,
    RouteFields,
    decide_request,
    explain_request,
    report_message,
    time_to_decide,
    timestamp,
)
from router_service_client.places import ThreadPlaces
from router_service_client.report_thread import ReportThread
from router_service_client.reports import ReportsLost
from router_service_client.running import Running
from router_service_client.token import Token, refuse_open, shown
from router_service_client.v1.report_pb2 import Report
from router_service_client.v1.route_pb2 import RouteRequest
from router_service_client.v1.router_service_pb2 import (
    DecideRequest,
    DecideResponse,
    ExplainResponse,
    GetTraceRequest,
    GetTraceResponse,
    Inline,
    ListTracesRequest,
    ListTracesResponse,
    ReportRequest,
    ReportResponse,
    ReportStreamRequest,
    ReportStreamResponse,
)
from router_service_client.v1.router_service_pb2_grpc import RouterServiceStub
from router_service_client.v1.trace_pb2 import Trace


class RouterClient(Running):
    """A connection to a router-service, for threads; close it, or use it in a `with` statement.

    Args:
        target: `host:port` or `unix:/path`. Connecting happens with the first call, and again when it was lost.
        timeout: seconds that a call may take; a call's own `timeout` goes before it.
        credentials: TLS, with a certificate of the caller's where the service asks for one; without them the connection
            is plain.
        token: the bearer token to show with each call: a text, the Path of a file that holds it and may be renewed, or
            a function that gives it.
        channel: a channel to use in the place of `target` and `credentials`; closing it stays with the caller.

    `reports` is the queue of what `run` reports in the background; its `outbox` counts what became of them.

    Raises:
        ValueError: the target or the timeout is none; a token is none, or would go over a plain connection beyond this
            machine.
    """

    def __init__(
        self,
        target: str = DEFAULT_TARGET,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        credentials: grpc.ChannelCredentials | None = None,
        token: Token | None = None,
        channel: grpc.Channel | None = None,
    ) -> None:
        self._shown = shown(token)
        if channel is None:
            refuse_open(target, token, credentials)
        self._timeout = checked_timeout(timeout)
        self._own = open_channel(target, credentials) if channel is None else None
        self._stub = RouterServiceStub(channel or self._own)
        self._places = ThreadPlaces()
        self.reports = ReportThread(self.report)

    def decide(
        self,
        request: RouteRequest | None = None,
        *,
        policy_id: str = "",
        request_id: str = "",
        workload: str = "",
        data_class: str = "",
        operation_id: str = "",
        inline: Inline | None = None,
        timeout: float | None = None,
        **fields: Unpack[RouteFields],
    ) -> DecideResponse:
        """The ranked, already filtered failover list of a request, or a refusal.

        Args:
            request: what the request needs; `fields` (`model=…, input_tokens=…`) go before its own.
            policy_id: the policy to decide under; empty means the catalogue's default.
            request_id: an id of the caller's own, echoed in the answer.
            workload: a workload that the request inherits and can only narrow, `name` or `name@version`.
            data_class: the class of data that the request holds, where the policy lists those that it allows.
            operation_id: an id of the caller's own that is kept in the trace.
            inline: candidates and a policy of the caller's own, for a server started with `--stateless`.
            timeout: seconds that this call may take.
            fields: the fields of RouteRequest by name.

        Raises:
            RouterError: there is no answer; its subclass says why.
        """
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
        answer: DecideResponse = self._answer(self._stub.Decide, message, timeout)
        return answer

    def explain(
        self,
        request: RouteRequest | None = None,
        *,
        policy_id: str = "",
        request_id: str = "",
        workload: str = "",
        data_class: str = "",
        operation_id: str = "",
        inline: Inline | None = None,
        trace_id: str = "",
        timeout: float | None = None,
        **fields: Unpack[RouteFields],
    ) -> ExplainResponse:
        """The decision that `decide` would make, and for every endpoint of the pool why it is in or out.

        Arguments and errors are those of `decide`; or give the `trace_id` of a decision or refusal, and nothing else
        but a request_id, to have that one told again, word for word, on the catalogue that it was made on.
        """
        message = explain_request(
            request,
            fields,
            policy_id=policy_id,
            request_id=request_id,
            workload=workload,
            data_class=data_class,
            operation_id=operation_id,
            inline=inline,
            trace_id=trace_id,
        )
        answer: ExplainResponse = self._answer(self._stub.Explain, message, timeout)
        return answer

    def report(
        self, report: Report | None = None, *, timeout: float | None = None, **fields: Unpack[ReportFields]
    ) -> ReportResponse:
        """Tells what came of a decision: how many of the attempts were new, and how many were known already.

        A report that comes again changes nothing, so that it may be sent until it is answered.

        Args:
            report: what came of it; `fields` go before its own.
            timeout: seconds that this call may take.
            fields: the fields of Report by name: `trace_id=…, outcome="accepted", attempts=[Attempt(…)]`.

        Raises:
            RouterError: it was not taken: `TraceNotFound`, `EndpointNotListed`, or another that says why.
        """
        message = ReportRequest(report=report_message(report, fields))
        answer: ReportResponse = self._answer(self._stub.Report, message, timeout)
        return answer

    def report_stream(self, reports: Iterable[Report], *, timeout: float | None = None) -> ReportStreamResponse:
        """Tells many reports; the answer names those that were not taken, and one of them never ends the stream.

        Args:
            reports: what came of decisions, in any order.
            timeout: seconds that the whole stream may take; by default it takes as long as the reports do.

        Raises:
            RouterError: the stream broke. What was taken is not known; all of it may be sent again.
        """
        items = (ReportStreamRequest(report=one) for one in reports)
        with router_errors():
            answer: ReportStreamResponse = self._stub.ReportStream(items, timeout=timeout, metadata=self._shown())
        return answer

    def get_trace(self, trace_id: str, *, timeout: float | None = None) -> Trace:
        """A decision or refusal as it was made, with what was asked and what was reported of it.

        Raises:
            RouterError: there is no answer: `TraceNotFound`, or another that says why.
        """
        answer: GetTraceResponse = self._answer(self._stub.GetTrace, GetTraceRequest(trace_id=trace_id), timeout)
        return answer.trace

    def list_traces(
        self,
        *,
        policy_id: str = "",
        outcome: str = "",
        endpoint_id: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        page_size: int = 0,
        timeout: float | None = None,
    ) -> Iterator[Trace]:
        """Decisions and refusals without their reports, newest first; asks for a page when it is come to.

        Args:
            policy_id: only of this policy.
            outcome: only of this outcome: `decided`, or a refusal's name.
            endpoint_id: only those that list this endpoint as a candidate.
            since: only those made at this instant or later.
            until: only those made before this instant.
            page_size: the most that one call brings; 0 leaves it to the service.
            timeout: seconds that each call may take.

        Raises:
            RouterError: there is no answer; its subclass says why.
            ValueError: an instant has no time zone.
        """
        query = ListTracesRequest(
            policy_id=policy_id,
            outcome=outcome,
            endpoint_id=endpoint_id,
            since=timestamp(since),
            until=timestamp(until),
            page_size=page_size,
        )
        while True:
            page: ListTracesResponse = self._answer(self._stub.ListTraces, query, timeout)
            yield from page.traces
            query.page_token = page.next_page_token
            if not page.next_page_token:
                return

    def close(self) -> None:
        """Delivers the reports that still wait, for 5 seconds at most, and closes the connection.

        Calls that still run are cancelled.

        Raises:
            ReportsLost: reports could not be delivered; it holds them.
        """
        loss = self.reports.close()
        if self._own is not None:
            self._own.close()
        if loss is not None:
            raise loss

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.close()
        except ReportsLost:
            if error is None:  # it is logged, and must not hide what went wrong first
                raise

    def _decided(self, message: DecideRequest) -> DecideResponse:
        answer: DecideResponse = self._answer(self._stub.Decide, message, time_to_decide(message, self._timeout))
        return answer

    def _answer(self, call: Any, message: Message, timeout: float | None) -> Any:
        """The answer to one message. Raises RouterError."""
        own = self._timeout if timeout is None else checked_timeout(timeout)
        with self._places.taken(own) as left, router_errors():
            return call(message, timeout=left, metadata=self._shown())
