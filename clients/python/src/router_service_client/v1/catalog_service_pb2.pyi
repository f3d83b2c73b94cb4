import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from router_service_client.v1 import endpoint_pb2 as _endpoint_pb2
from router_service_client.v1 import policy_pb2 as _policy_pb2
from router_service_client.v1 import workload_pb2 as _workload_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListEndpointsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListEndpointsResponse(_message.Message):
    __slots__ = ("endpoints", "next_page_token", "catalog_version")
    ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CATALOG_VERSION_FIELD_NUMBER: _ClassVar[int]
    endpoints: _containers.RepeatedCompositeFieldContainer[ServedEndpoint]
    next_page_token: str
    catalog_version: str
    def __init__(self, endpoints: _Optional[_Iterable[_Union[ServedEndpoint, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., catalog_version: _Optional[str] = ...) -> None: ...

class ServedEndpoint(_message.Message):
    __slots__ = ("endpoint", "status", "circuit", "suppressed_until", "observed_latency_ms", "observed_error_rate", "reported_at", "by_hand")
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CIRCUIT_FIELD_NUMBER: _ClassVar[int]
    SUPPRESSED_UNTIL_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_ERROR_RATE_FIELD_NUMBER: _ClassVar[int]
    REPORTED_AT_FIELD_NUMBER: _ClassVar[int]
    BY_HAND_FIELD_NUMBER: _ClassVar[int]
    endpoint: _endpoint_pb2.Endpoint
    status: str
    circuit: str
    suppressed_until: _timestamp_pb2.Timestamp
    observed_latency_ms: int
    observed_error_rate: float
    reported_at: _timestamp_pb2.Timestamp
    by_hand: StatusByHand
    def __init__(self, endpoint: _Optional[_Union[_endpoint_pb2.Endpoint, _Mapping]] = ..., status: _Optional[str] = ..., circuit: _Optional[str] = ..., suppressed_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., observed_latency_ms: _Optional[int] = ..., observed_error_rate: _Optional[float] = ..., reported_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., by_hand: _Optional[_Union[StatusByHand, _Mapping]] = ...) -> None: ...

class StatusByHand(_message.Message):
    __slots__ = ("status", "reason", "since")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    status: str
    reason: str
    since: _timestamp_pb2.Timestamp
    def __init__(self, status: _Optional[str] = ..., reason: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SetEndpointStatusRequest(_message.Message):
    __slots__ = ("endpoint_id", "status", "reason")
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    status: str
    reason: str
    def __init__(self, endpoint_id: _Optional[str] = ..., status: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class SetEndpointStatusResponse(_message.Message):
    __slots__ = ("endpoint", "kept")
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    endpoint: ServedEndpoint
    kept: bool
    def __init__(self, endpoint: _Optional[_Union[ServedEndpoint, _Mapping]] = ..., kept: _Optional[bool] = ...) -> None: ...

class ReloadRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReloadResponse(_message.Message):
    __slots__ = ("catalog_version", "changed")
    CATALOG_VERSION_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    catalog_version: str
    changed: bool
    def __init__(self, catalog_version: _Optional[str] = ..., changed: _Optional[bool] = ...) -> None: ...

class ListWorkloadsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListWorkloadsResponse(_message.Message):
    __slots__ = ("workloads", "next_page_token", "catalog_version")
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CATALOG_VERSION_FIELD_NUMBER: _ClassVar[int]
    workloads: _containers.RepeatedCompositeFieldContainer[_workload_pb2.Workload]
    next_page_token: str
    catalog_version: str
    def __init__(self, workloads: _Optional[_Iterable[_Union[_workload_pb2.Workload, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., catalog_version: _Optional[str] = ...) -> None: ...

class ListPoliciesRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListPoliciesResponse(_message.Message):
    __slots__ = ("policies", "next_page_token", "catalog_version", "default_policy")
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CATALOG_VERSION_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_POLICY_FIELD_NUMBER: _ClassVar[int]
    policies: _containers.RepeatedCompositeFieldContainer[_policy_pb2.Policy]
    next_page_token: str
    catalog_version: str
    default_policy: str
    def __init__(self, policies: _Optional[_Iterable[_Union[_policy_pb2.Policy, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., catalog_version: _Optional[str] = ..., default_policy: _Optional[str] = ...) -> None: ...

class WatchCatalogRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchCatalogResponse(_message.Message):
    __slots__ = ("catalog_version", "loaded_at", "endpoints", "policies", "default_policy", "currency")
    CATALOG_VERSION_FIELD_NUMBER: _ClassVar[int]
    LOADED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_POLICY_FIELD_NUMBER: _ClassVar[int]
    CURRENCY_FIELD_NUMBER: _ClassVar[int]
    catalog_version: str
    loaded_at: _timestamp_pb2.Timestamp
    endpoints: int
    policies: int
    default_policy: str
    currency: str
    def __init__(self, catalog_version: _Optional[str] = ..., loaded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., endpoints: _Optional[int] = ..., policies: _Optional[int] = ..., default_policy: _Optional[str] = ..., currency: _Optional[str] = ...) -> None: ...
