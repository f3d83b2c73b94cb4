from router_service.v1 import route_pb2 as _route_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Explanation(_message.Message):
    __slots__ = ("decision", "refusal", "endpoints", "workload", "origins", "hidden_endpoints")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
    decision: _route_pb2.Decision
    refusal: _route_pb2.Refusal
    endpoints: _containers.RepeatedCompositeFieldContainer[EndpointExplanation]
    workload: str
    origins: _containers.RepeatedCompositeFieldContainer[Origin]
    hidden_endpoints: int
    def __init__(self, decision: _Optional[_Union[_route_pb2.Decision, _Mapping]] = ..., refusal: _Optional[_Union[_route_pb2.Refusal, _Mapping]] = ..., endpoints: _Optional[_Iterable[_Union[EndpointExplanation, _Mapping]]] = ..., workload: _Optional[str] = ..., origins: _Optional[_Iterable[_Union[Origin, _Mapping]]] = ..., hidden_endpoints: _Optional[int] = ...) -> None: ...

class EndpointExplanation(_message.Message):
    __slots__ = ("endpoint_id", "model", "provider", "region", "country", "sovereignty", "refused_by", "matches", "rank", "score", "terms", "attempt", "estimated_cost", "need_ms", "figures")
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    COUNTRY_FIELD_NUMBER: _ClassVar[int]
    SOVEREIGNTY_FIELD_NUMBER: _ClassVar[int]
    REFUSED_BY_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    TERMS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_COST_FIELD_NUMBER: _ClassVar[int]
    NEED_MS_FIELD_NUMBER: _ClassVar[int]
    FIGURES_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    model: str
    provider: str
    region: str
    country: str
    sovereignty: str
    refused_by: _containers.RepeatedCompositeFieldContainer[Exclusion]
    matches: _containers.RepeatedCompositeFieldContainer[Match]
    rank: int
    score: float
    terms: _route_pb2.Terms
    attempt: int
    estimated_cost: float
    need_ms: int
    figures: _containers.RepeatedCompositeFieldContainer[Figure]
    def __init__(self, endpoint_id: _Optional[str] = ..., model: _Optional[str] = ..., provider: _Optional[str] = ..., region: _Optional[str] = ..., country: _Optional[str] = ..., sovereignty: _Optional[str] = ..., refused_by: _Optional[_Iterable[_Union[Exclusion, _Mapping]]] = ..., matches: _Optional[_Iterable[_Union[Match, _Mapping]]] = ..., rank: _Optional[int] = ..., score: _Optional[float] = ..., terms: _Optional[_Union[_route_pb2.Terms, _Mapping]] = ..., attempt: _Optional[int] = ..., estimated_cost: _Optional[float] = ..., need_ms: _Optional[int] = ..., figures: _Optional[_Iterable[_Union[Figure, _Mapping]]] = ...) -> None: ...

class Figure(_message.Message):
    __slots__ = ("name", "used", "recorded", "source")
    NAME_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    RECORDED_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    name: str
    used: str
    recorded: str
    source: str
    def __init__(self, name: _Optional[str] = ..., used: _Optional[str] = ..., recorded: _Optional[str] = ..., source: _Optional[str] = ...) -> None: ...

class Origin(_message.Message):
    __slots__ = ("field", "source", "value")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    field: str
    source: str
    value: str
    def __init__(self, field: _Optional[str] = ..., source: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class Exclusion(_message.Message):
    __slots__ = ("reason", "detail")
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    reason: str
    detail: str
    def __init__(self, reason: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class Match(_message.Message):
    __slots__ = ("list_name", "entry", "name")
    LIST_NAME_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    list_name: str
    entry: str
    name: str
    def __init__(self, list_name: _Optional[str] = ..., entry: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...
