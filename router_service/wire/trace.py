"""Traces between the wire and the store: requests and answers as bytes that last, and stored traces as messages."""

from __future__ import annotations

import msgspec

from router_service.asks import InvalidRequest
from router_service.domain.meanings import Instant
from router_service.domain.money import nearest_double
from router_service.domain.problems import PAGE_SIZE, Problem
from router_service.domain.readers import Text, Word
from router_service.domain.reasons import REFUSALS
from router_service.domain.report import TRACE_ID
from router_service.domain.request import RouteRequest
from router_service.engine.cache import Bounded
from router_service.store.interface import StoredTrace, Trace, TraceQuery
from router_service.traces.record import DECIDED, Asked, Record, context_of
from router_service.v1 import route_pb2, trace_pb2
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.answer import result_form
from router_service.wire.read import REMEMBERED, REMEMBERED_SIZE, fields_of, unknown_fields
from router_service.wire.report import write_report
from router_service.wire.write import write_request, write_timestamp

PAGE_DEFAULT = 100
PAGE_MAX = 1000
OUTCOMES = (DECIDED, *REFUSALS)

_NOTHING_ASKED = RouteRequest()
_LIMITS = ("max_price", "max_cost")  # held in millionths
_NAME = Text()
_OUTCOME = Word(OUTCOMES)
_INSTANT = Instant()


class WireCodec:
    """The codec of traces: what was asked as a DecideRequest, what was answered as Decide's own bytes."""

    def __init__(self) -> None:
        # The same request is asked by the thousand. It is bounded in the number and in the size of what it holds.
        self._requests: Bounded[RouteRequest, bytes] = Bounded(REMEMBERED)
        self._around: Bounded[tuple[str, str, str, str], bytes] = Bounded(REMEMBERED)

    def request_form(self, record: Record) -> bytes:
        """What was asked, under the policy that it was decided under."""
        label = "" if record.joined is None else record.joined.label
        key = (record.policy.policy_id, label, record.data_class, record.operation_id)
        around = self._around.get(key)
        if around is None:
            around = pb.DecideRequest(
                policy_id=key[0], workload=label, data_class=record.data_class, operation_id=record.operation_id
            ).SerializeToString()
            if not record.operation_id and len(around) <= REMEMBERED_SIZE:
                self._around[key] = around
        request = self._requests.get(record.request)
        if request is None:
            request = pb.DecideRequest(request=route_request(record.request)).SerializeToString()
            if record.request.is_short:
                self._requests[record.request] = request
        return around + request

    def result_form(self, record: Record) -> bytes:
        """What was answered."""
        return result_form(record.result, record.trace_id, record.catalog_version, record.now)

    def read_request(self, form: bytes) -> Asked:
        """What was asked, exactly."""
        asked = pb.DecideRequest.FromString(form)
        request = RouteRequest.read(fields_of(asked.request))
        return Asked(asked.policy_id, request, asked.data_class, asked.operation_id, asked.workload)

    def read_needs(self, form: bytes) -> dict[str, int]:
        """What each candidate of a decision needs, in ms."""
        return {one.endpoint_id: one.need_ms for one in route_pb2.Decision.FromString(form).candidates}


CODEC = WireCodec()
"""The codec of this process; what it remembers depends on no catalogue."""


def route_request(request: RouteRequest) -> route_pb2.RouteRequest:
    """A request as the message that is read as the same request; what it leaves to the default is not in it."""
    values = msgspec.structs.asdict(request)
    fields = {name: value for name, value in values.items() if value != getattr(_NOTHING_ASKED, name)}
    return write_request({name: nearest_double(value) if name in _LIMITS else value for name, value in fields.items()})


def write_trace(stored: StoredTrace) -> trace_pb2.Trace:
    """A trace with what was reported of it."""
    message = write_listed(stored.trace)
    message.reports.extend(write_report(report) for report in stored.reports)
    return message


def write_listed(trace: Trace) -> trace_pb2.Trace:
    """A trace without its reports."""
    asked = pb.DecideRequest.FromString(trace.request)
    context = context_of(trace)
    message = trace_pb2.Trace(
        trace_id=trace.trace_id,
        decided_at=write_timestamp(trace.at),
        kept_until=write_timestamp(trace.expires_at),
        policy_id=trace.policy_id,
        outcome=trace.outcome,
        catalog_version=trace.catalog_version,
        request=asked.request,
        data_class=asked.data_class,
        operation_id=asked.operation_id,
        budget_max_cost=None if context.budget_max_cost is None else nearest_double(context.budget_max_cost),
        workload=asked.workload,
        caller=context.caller,
    )
    (message.decision if trace.outcome == DECIDED else message.refusal).MergeFromString(trace.answer)
    return message


def read_trace_id(text: str, problems: list[Problem]) -> str:
    """A trace_id in its one form; what is wrong with it is added to `problems`."""
    trace_id = TRACE_ID.read(text, "trace_id", problems)
    if trace_id == "":
        problems.append(Problem("trace_id", "missing", "give the trace_id of a decision or a refusal"))
    return trace_id or ""


def read_asked_trace(message: pb.GetTraceRequest) -> str:
    """Which trace is asked for. Raises InvalidRequest."""
    problems = unknown_fields(message, "")
    trace_id = read_trace_id(message.trace_id, problems)
    if problems:
        raise InvalidRequest(problems)
    return trace_id


def read_explained_trace(message: pb.ExplainRequest) -> str:
    """Which trace is to be explained, where nothing else is asked. Raises InvalidRequest naming what is."""
    problems = unknown_fields(message, "")
    problems += [
        Problem(field.name, "a trace_id says all that is to be explained", "leave out this field or trace_id")
        for field, _ in message.ListFields()
        if field.name not in ("trace_id", "request_id")
    ]
    if message.request_id:
        _NAME.read(message.request_id, "request_id", problems)
    trace_id = read_trace_id(message.trace_id, problems)
    if problems:
        raise InvalidRequest(problems)
    return trace_id


def read_query(message: pb.ListTracesRequest) -> tuple[TraceQuery, int]:
    """Which traces, and how many of them on a page. Raises InvalidRequest with every problem."""
    problems = unknown_fields(message, "")
    fields = fields_of(message)
    since = _INSTANT.read(fields["since"], "since", problems) if "since" in fields else None
    until = _INSTANT.read(fields["until"], "until", problems) if "until" in fields else None
    if since is not None and until is not None and until < since:
        problems.append(Problem("until", "it is before since", "ask for traces made before a later instant"))
    if message.page_size > PAGE_MAX:
        cure = f"ask for at most {PAGE_MAX}, or 0 for {PAGE_DEFAULT}"
        problems.append(Problem("page_size", f"{message.page_size} is too many", cure, PAGE_SIZE))
    query = TraceQuery(
        policy_id=_NAME.read(message.policy_id, "policy_id", problems) or "",
        outcome=_OUTCOME.read(message.outcome, "outcome", problems) or "" if message.outcome else "",
        endpoint_id=_NAME.read(message.endpoint_id, "endpoint_id", problems) or "",
        since=since,
        until=until,
    )
    if problems:
        raise InvalidRequest(problems)
    return query, message.page_size or PAGE_DEFAULT
