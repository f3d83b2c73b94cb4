import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from router_service.v1 import report_pb2 as _report_pb2
from router_service.v1 import route_pb2 as _route_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Trace(_message.Message):
    __slots__ = ("trace_id", "decided_at", "kept_until", "policy_id", "outcome", "catalog_version", "request", "data_class", "operation_id", "budget_max_cost", "decision", "refusal", "reports", "workload", "caller")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    DECIDED_AT_FIELD_NUMBER: _ClassVar[int]
    KEPT_UNTIL_FIELD_NUMBER: _ClassVar[int]
    POLICY_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    CATALOG_VERSION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    DATA_CLASS_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    BUDGET_MAX_COST_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    decided_at: _timestamp_pb2.Timestamp
    kept_until: _timestamp_pb2.Timestamp
    policy_id: str
    outcome: str
    catalog_version: str
    request: _route_pb2.RouteRequest
    data_class: str
    operation_id: str
    budget_max_cost: float
    decision: _route_pb2.Decision
    refusal: _route_pb2.Refusal
    reports: _containers.RepeatedCompositeFieldContainer[_report_pb2.Report]
    workload: str
    caller: str
    def __init__(self, trace_id: _Optional[str] = ..., decided_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., kept_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., policy_id: _Optional[str] = ..., outcome: _Optional[str] = ..., catalog_version: _Optional[str] = ..., request: _Optional[_Union[_route_pb2.RouteRequest, _Mapping]] = ..., data_class: _Optional[str] = ..., operation_id: _Optional[str] = ..., budget_max_cost: _Optional[float] = ..., decision: _Optional[_Union[_route_pb2.Decision, _Mapping]] = ..., refusal: _Optional[_Union[_route_pb2.Refusal, _Mapping]] = ..., reports: _Optional[_Iterable[_Union[_report_pb2.Report, _Mapping]]] = ..., workload: _Optional[str] = ..., caller: _Optional[str] = ...) -> None: ...
