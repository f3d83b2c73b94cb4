import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Report(_message.Message):
    __slots__ = ("trace_id", "operation_id", "attempts", "outcome", "caller")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    OPERATION_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    operation_id: str
    attempts: _containers.RepeatedCompositeFieldContainer[Attempt]
    outcome: str
    caller: str
    def __init__(self, trace_id: _Optional[str] = ..., operation_id: _Optional[str] = ..., attempts: _Optional[_Iterable[_Union[Attempt, _Mapping]]] = ..., outcome: _Optional[str] = ..., caller: _Optional[str] = ...) -> None: ...

class Attempt(_message.Message):
    __slots__ = ("attempt_id", "endpoint_id", "started_at", "latency_ms", "time_to_first_token_ms", "failure_class", "status_code", "input_tokens", "output_tokens", "cost", "finish_reason", "validation_result", "retry_after_ms", "error_code", "timeout_ms")
    ATTEMPT_ID_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    TIME_TO_FIRST_TOKEN_MS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_RESULT_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    attempt_id: str
    endpoint_id: str
    started_at: _timestamp_pb2.Timestamp
    latency_ms: int
    time_to_first_token_ms: int
    failure_class: str
    status_code: int
    input_tokens: int
    output_tokens: int
    cost: float
    finish_reason: str
    validation_result: str
    retry_after_ms: int
    error_code: str
    timeout_ms: int
    def __init__(self, attempt_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., latency_ms: _Optional[int] = ..., time_to_first_token_ms: _Optional[int] = ..., failure_class: _Optional[str] = ..., status_code: _Optional[int] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost: _Optional[float] = ..., finish_reason: _Optional[str] = ..., validation_result: _Optional[str] = ..., retry_after_ms: _Optional[int] = ..., error_code: _Optional[str] = ..., timeout_ms: _Optional[int] = ...) -> None: ...
