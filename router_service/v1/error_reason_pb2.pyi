from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ErrorReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_REASON_UNSPECIFIED: _ClassVar[ErrorReason]
    ERROR_REASON_INVALID_REQUEST: _ClassVar[ErrorReason]
    ERROR_REASON_NO_DEFAULT_POLICY: _ClassVar[ErrorReason]
    ERROR_REASON_POLICY_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_STATELESS_MODE_OFF: _ClassVar[ErrorReason]
    ERROR_REASON_CATALOG_NOT_LOADED: _ClassVar[ErrorReason]
    ERROR_REASON_DRAINING: _ClassVar[ErrorReason]
    ERROR_REASON_INTERNAL: _ClassVar[ErrorReason]
    ERROR_REASON_TRACE_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_ENDPOINT_NOT_LISTED: _ClassVar[ErrorReason]
    ERROR_REASON_STORE_LOST: _ClassVar[ErrorReason]
    ERROR_REASON_NO_STORE: _ClassVar[ErrorReason]
    ERROR_REASON_WORKLOAD_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_ENDPOINT_NOT_FOUND: _ClassVar[ErrorReason]
    ERROR_REASON_ROLE_MISSING: _ClassVar[ErrorReason]
    ERROR_REASON_CATALOG_INVALID: _ClassVar[ErrorReason]
    ERROR_REASON_UNAUTHENTICATED: _ClassVar[ErrorReason]
    ERROR_REASON_AUDIT_UNAVAILABLE: _ClassVar[ErrorReason]
    ERROR_REASON_LIMIT_REACHED: _ClassVar[ErrorReason]
ERROR_REASON_UNSPECIFIED: ErrorReason
ERROR_REASON_INVALID_REQUEST: ErrorReason
ERROR_REASON_NO_DEFAULT_POLICY: ErrorReason
ERROR_REASON_POLICY_NOT_FOUND: ErrorReason
ERROR_REASON_STATELESS_MODE_OFF: ErrorReason
ERROR_REASON_CATALOG_NOT_LOADED: ErrorReason
ERROR_REASON_DRAINING: ErrorReason
ERROR_REASON_INTERNAL: ErrorReason
ERROR_REASON_TRACE_NOT_FOUND: ErrorReason
ERROR_REASON_ENDPOINT_NOT_LISTED: ErrorReason
ERROR_REASON_STORE_LOST: ErrorReason
ERROR_REASON_NO_STORE: ErrorReason
ERROR_REASON_WORKLOAD_NOT_FOUND: ErrorReason
ERROR_REASON_ENDPOINT_NOT_FOUND: ErrorReason
ERROR_REASON_ROLE_MISSING: ErrorReason
ERROR_REASON_CATALOG_INVALID: ErrorReason
ERROR_REASON_UNAUTHENTICATED: ErrorReason
ERROR_REASON_AUDIT_UNAVAILABLE: ErrorReason
ERROR_REASON_LIMIT_REACHED: ErrorReason

class ItemError(_message.Message):
    __slots__ = ("code", "message", "reason", "violations")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    code: int
    message: str
    reason: ErrorReason
    violations: _containers.RepeatedCompositeFieldContainer[FieldViolation]
    def __init__(self, code: _Optional[int] = ..., message: _Optional[str] = ..., reason: _Optional[_Union[ErrorReason, str]] = ..., violations: _Optional[_Iterable[_Union[FieldViolation, _Mapping]]] = ...) -> None: ...

class FieldViolation(_message.Message):
    __slots__ = ("field", "description")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    field: str
    description: str
    def __init__(self, field: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...
