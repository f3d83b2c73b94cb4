from router_service_client.v1 import endpoint_pb2 as _endpoint_pb2
from router_service_client.v1 import error_reason_pb2 as _error_reason_pb2
from router_service_client.v1 import explanation_pb2 as _explanation_pb2
from router_service_client.v1 import policy_pb2 as _policy_pb2
from router_service_client.v1 import route_pb2 as _route_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DecideRequest(_message.Message):
    __slots__ = ("request_id", "policy_id", "request", "inline")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    INLINE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    policy_id: str
    request: _route_pb2.RouteRequest
    inline: Inline
    def __init__(self, request_id: _Optional[str] = ..., policy_id: _Optional[str] = ..., request: _Optional[_Union[_route_pb2.RouteRequest, _Mapping]] = ..., inline: _Optional[_Union[Inline, _Mapping]] = ...) -> None: ...

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
    __slots__ = ("request_id", "policy_id", "request", "inline")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    INLINE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    policy_id: str
    request: _route_pb2.RouteRequest
    inline: Inline
    def __init__(self, request_id: _Optional[str] = ..., policy_id: _Optional[str] = ..., request: _Optional[_Union[_route_pb2.RouteRequest, _Mapping]] = ..., inline: _Optional[_Union[Inline, _Mapping]] = ...) -> None: ...

class ExplainResponse(_message.Message):
    __slots__ = ("request_id", "explanation")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    explanation: _explanation_pb2.Explanation
    def __init__(self, request_id: _Optional[str] = ..., explanation: _Optional[_Union[_explanation_pb2.Explanation, _Mapping]] = ...) -> None: ...
