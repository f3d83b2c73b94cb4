from google.protobuf import struct_pb2 as _struct_pb2
from router_service.envoy.v1 import http_pb2 as _http_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CheckRequest(_message.Message):
    __slots__ = ("attributes",)
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    attributes: Attributes
    def __init__(self, attributes: _Optional[_Union[Attributes, _Mapping]] = ...) -> None: ...

class Attributes(_message.Message):
    __slots__ = ("request", "context_extensions", "metadata_context")
    class ContextExtensionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    METADATA_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    request: Request
    context_extensions: _containers.ScalarMap[str, str]
    metadata_context: _http_pb2.Metadata
    def __init__(self, request: _Optional[_Union[Request, _Mapping]] = ..., context_extensions: _Optional[_Mapping[str, str]] = ..., metadata_context: _Optional[_Union[_http_pb2.Metadata, _Mapping]] = ...) -> None: ...

class Request(_message.Message):
    __slots__ = ("http",)
    HTTP_FIELD_NUMBER: _ClassVar[int]
    http: HttpRequest
    def __init__(self, http: _Optional[_Union[HttpRequest, _Mapping]] = ...) -> None: ...

class HttpRequest(_message.Message):
    __slots__ = ("headers", "header_map")
    class HeadersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    HEADER_MAP_FIELD_NUMBER: _ClassVar[int]
    headers: _containers.ScalarMap[str, str]
    header_map: _http_pb2.HeaderMap
    def __init__(self, headers: _Optional[_Mapping[str, str]] = ..., header_map: _Optional[_Union[_http_pb2.HeaderMap, _Mapping]] = ...) -> None: ...

class CheckResponse(_message.Message):
    __slots__ = ("status", "denied_response", "ok_response", "dynamic_metadata")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    DENIED_RESPONSE_FIELD_NUMBER: _ClassVar[int]
    OK_RESPONSE_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_METADATA_FIELD_NUMBER: _ClassVar[int]
    status: RpcStatus
    denied_response: DeniedHttpResponse
    ok_response: OkHttpResponse
    dynamic_metadata: _struct_pb2.Struct
    def __init__(self, status: _Optional[_Union[RpcStatus, _Mapping]] = ..., denied_response: _Optional[_Union[DeniedHttpResponse, _Mapping]] = ..., ok_response: _Optional[_Union[OkHttpResponse, _Mapping]] = ..., dynamic_metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class RpcStatus(_message.Message):
    __slots__ = ("code",)
    CODE_FIELD_NUMBER: _ClassVar[int]
    code: int
    def __init__(self, code: _Optional[int] = ...) -> None: ...

class DeniedHttpResponse(_message.Message):
    __slots__ = ("status", "headers", "body")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    status: _http_pb2.HttpStatus
    headers: _containers.RepeatedCompositeFieldContainer[_http_pb2.HeaderValueOption]
    body: str
    def __init__(self, status: _Optional[_Union[_http_pb2.HttpStatus, _Mapping]] = ..., headers: _Optional[_Iterable[_Union[_http_pb2.HeaderValueOption, _Mapping]]] = ..., body: _Optional[str] = ...) -> None: ...

class OkHttpResponse(_message.Message):
    __slots__ = ("headers", "headers_to_remove", "response_headers_to_add")
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_TO_REMOVE_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_HEADERS_TO_ADD_FIELD_NUMBER: _ClassVar[int]
    headers: _containers.RepeatedCompositeFieldContainer[_http_pb2.HeaderValueOption]
    headers_to_remove: _containers.RepeatedScalarFieldContainer[str]
    response_headers_to_add: _containers.RepeatedCompositeFieldContainer[_http_pb2.HeaderValueOption]
    def __init__(self, headers: _Optional[_Iterable[_Union[_http_pb2.HeaderValueOption, _Mapping]]] = ..., headers_to_remove: _Optional[_Iterable[str]] = ..., response_headers_to_add: _Optional[_Iterable[_Union[_http_pb2.HeaderValueOption, _Mapping]]] = ...) -> None: ...

class CheckGlimpse(_message.Message):
    __slots__ = ("attributes",)
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    attributes: AttributesGlimpse
    def __init__(self, attributes: _Optional[_Union[AttributesGlimpse, _Mapping]] = ...) -> None: ...

class AttributesGlimpse(_message.Message):
    __slots__ = ("request", "context_extensions", "metadata_context")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_EXTENSIONS_FIELD_NUMBER: _ClassVar[int]
    METADATA_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    request: RequestGlimpse
    context_extensions: _containers.RepeatedScalarFieldContainer[bytes]
    metadata_context: bytes
    def __init__(self, request: _Optional[_Union[RequestGlimpse, _Mapping]] = ..., context_extensions: _Optional[_Iterable[bytes]] = ..., metadata_context: _Optional[bytes] = ...) -> None: ...

class RequestGlimpse(_message.Message):
    __slots__ = ("http",)
    HTTP_FIELD_NUMBER: _ClassVar[int]
    http: HttpRequestGlimpse
    def __init__(self, http: _Optional[_Union[HttpRequestGlimpse, _Mapping]] = ...) -> None: ...

class HttpRequestGlimpse(_message.Message):
    __slots__ = ("headers", "header_map")
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    HEADER_MAP_FIELD_NUMBER: _ClassVar[int]
    headers: _containers.RepeatedScalarFieldContainer[bytes]
    header_map: bytes
    def __init__(self, headers: _Optional[_Iterable[bytes]] = ..., header_map: _Optional[bytes] = ...) -> None: ...
