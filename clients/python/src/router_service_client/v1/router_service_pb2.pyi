import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from router_service_client.v1 import endpoint_pb2 as _endpoint_pb2
from router_service_client.v1 import error_reason_pb2 as _error_reason_pb2
from router_service_client.v1 import explanation_pb2 as _explanation_pb2
from router_service_client.v1 import policy_pb2 as _policy_pb2
from router_service_client.v1 import report_pb2 as _report_pb2
from router_service_client.v1 import route_pb2 as _route_pb2
from router_service_client.v1 import trace_pb2 as _trace_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DecideRequest(_message.Message):
    __slots__ = ("request_id", "policy_id", "workload", "data_class", "operation_id", "request", "inline")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_ID_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    DATA_CLASS_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    INLINE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    policy_id: str
    workload: str
    data_class: str
    operation_id: str
    request: _route_pb2.RouteRequest
    inline: Inline
    def __init__(self, request_id: _Optional[str] = ..., policy_id: _Optional[str] = ..., workload: _Optional[str] = ..., data_class: _Optional[str] = ..., operation_id: _Optional[str] = ..., request: _Optional[_Union[_route_pb2.RouteRequest, _Mapping]] = ..., inline: _Optional[_Union[Inline, _Mapping]] = ...) -> None: ...

class Inline(_message.Message):
    __slots__ = ("candidates", "policy")
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    candidates: _containers.RepeatedCompositeFieldContainer[_endpoint_pb2.Endpoint]
    policy: _policy_pb2.Policy
    def __init__(self, candidates: _Optional[_Iterable[_Union[_endpoint_pb2.Endpoint, _Mapping]]] = ..., policy: _Optional[_Union[_policy_pb2.Policy, _Mapping]] = ...) -> None: ...

class DecideResponse(_message.Message):
    __slots__ = ("request_id", "decision", "refusal")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    decision: _route_pb2.Decision
    refusal: _route_pb2.Refusal
    def __init__(self, request_id: _Optional[str] = ..., decision: _Optional[_Union[_route_pb2.Decision, _Mapping]] = ..., refusal: _Optional[_Union[_route_pb2.Refusal, _Mapping]] = ...) -> None: ...

class DecideStreamRequest(_message.Message):
    __slots__ = ("decide",)
    DECIDE_FIELD_NUMBER: _ClassVar[int]
    decide: DecideRequest
    def __init__(self, decide: _Optional[_Union[DecideRequest, _Mapping]] = ...) -> None: ...

class DecideStreamResponse(_message.Message):
    __slots__ = ("request_id", "decision", "refusal", "error")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    decision: _route_pb2.Decision
    refusal: _route_pb2.Refusal
    error: _error_reason_pb2.ItemError
    def __init__(self, request_id: _Optional[str] = ..., decision: _Optional[_Union[_route_pb2.Decision, _Mapping]] = ..., refusal: _Optional[_Union[_route_pb2.Refusal, _Mapping]] = ..., error: _Optional[_Union[_error_reason_pb2.ItemError, _Mapping]] = ...) -> None: ...

class ExplainRequest(_message.Message):
    __slots__ = ("request_id", "policy_id", "workload", "data_class", "operation_id", "request", "inline", "trace_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_ID_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    DATA_CLASS_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    INLINE_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    policy_id: str
    workload: str
    data_class: str
    operation_id: str
    request: _route_pb2.RouteRequest
    inline: Inline
    trace_id: str
    def __init__(self, request_id: _Optional[str] = ..., policy_id: _Optional[str] = ..., workload: _Optional[str] = ..., data_class: _Optional[str] = ..., operation_id: _Optional[str] = ..., request: _Optional[_Union[_route_pb2.RouteRequest, _Mapping]] = ..., inline: _Optional[_Union[Inline, _Mapping]] = ..., trace_id: _Optional[str] = ...) -> None: ...

class ExplainResponse(_message.Message):
    __slots__ = ("request_id", "explanation")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    explanation: _explanation_pb2.Explanation
    def __init__(self, request_id: _Optional[str] = ..., explanation: _Optional[_Union[_explanation_pb2.Explanation, _Mapping]] = ...) -> None: ...

class ReportRequest(_message.Message):
    __slots__ = ("report",)
    REPORT_FIELD_NUMBER: _ClassVar[int]
    report: _report_pb2.Report
    def __init__(self, report: _Optional[_Union[_report_pb2.Report, _Mapping]] = ...) -> None: ...

class ReportResponse(_message.Message):
    __slots__ = ("accepted", "duplicates")
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    DUPLICATES_FIELD_NUMBER: _ClassVar[int]
    accepted: int
    duplicates: int
    def __init__(self, accepted: _Optional[int] = ..., duplicates: _Optional[int] = ...) -> None: ...

class ReportStreamRequest(_message.Message):
    __slots__ = ("report",)
    REPORT_FIELD_NUMBER: _ClassVar[int]
    report: _report_pb2.Report
    def __init__(self, report: _Optional[_Union[_report_pb2.Report, _Mapping]] = ...) -> None: ...

class ReportStreamResponse(_message.Message):
    __slots__ = ("accepted", "duplicates", "rejected", "more_rejected")
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    DUPLICATES_FIELD_NUMBER: _ClassVar[int]
    REJECTED_FIELD_NUMBER: _ClassVar[int]
    MORE_REJECTED_FIELD_NUMBER: _ClassVar[int]
    accepted: int
    duplicates: int
    rejected: _containers.RepeatedCompositeFieldContainer[RejectedReport]
    more_rejected: int
    def __init__(self, accepted: _Optional[int] = ..., duplicates: _Optional[int] = ..., rejected: _Optional[_Iterable[_Union[RejectedReport, _Mapping]]] = ..., more_rejected: _Optional[int] = ...) -> None: ...

class RejectedReport(_message.Message):
    __slots__ = ("position", "trace_id", "error")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    position: int
    trace_id: str
    error: _error_reason_pb2.ItemError
    def __init__(self, position: _Optional[int] = ..., trace_id: _Optional[str] = ..., error: _Optional[_Union[_error_reason_pb2.ItemError, _Mapping]] = ...) -> None: ...

class GetTraceRequest(_message.Message):
    __slots__ = ("trace_id",)
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    def __init__(self, trace_id: _Optional[str] = ...) -> None: ...

class GetTraceResponse(_message.Message):
    __slots__ = ("trace",)
    TRACE_FIELD_NUMBER: _ClassVar[int]
    trace: _trace_pb2.Trace
    def __init__(self, trace: _Optional[_Union[_trace_pb2.Trace, _Mapping]] = ...) -> None: ...

class ListTracesRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "policy_id", "outcome", "endpoint_id", "since", "until")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    POLICY_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    policy_id: str
    outcome: str
    endpoint_id: str
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., policy_id: _Optional[str] = ..., outcome: _Optional[str] = ..., endpoint_id: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListTracesResponse(_message.Message):
    __slots__ = ("traces", "next_page_token")
    TRACES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    traces: _containers.RepeatedCompositeFieldContainer[_trace_pb2.Trace]
    next_page_token: str
    def __init__(self, traces: _Optional[_Iterable[_Union[_trace_pb2.Trace, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
