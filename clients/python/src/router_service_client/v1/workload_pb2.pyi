from router_service_client.v1 import route_pb2 as _route_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Workload(_message.Message):
    __slots__ = ("name", "version", "request", "schema_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    request: _route_pb2.RouteRequest
    schema_id: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., request: _Optional[_Union[_route_pb2.RouteRequest, _Mapping]] = ..., schema_id: _Optional[str] = ...) -> None: ...
