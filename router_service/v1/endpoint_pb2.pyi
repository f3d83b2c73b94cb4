import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Endpoint(_message.Message):
    __slots__ = ("endpoint_id", "model", "aliases", "vendor", "model_version", "provider", "region", "country", "sovereignty", "kind", "status", "retires_at", "suppressed_until", "model_type", "input_modalities", "context_window", "max_output_tokens", "input_price", "output_price", "parameters_b", "tags", "model_classes", "strong_languages", "tools", "structured_output", "latency_ms", "tokens_per_second", "error_rate", "address", "upstream_model")
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    VENDOR_FIELD_NUMBER: _ClassVar[int]
    MODEL_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    COUNTRY_FIELD_NUMBER: _ClassVar[int]
    SOVEREIGNTY_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RETIRES_AT_FIELD_NUMBER: _ClassVar[int]
    SUPPRESSED_UNTIL_FIELD_NUMBER: _ClassVar[int]
    MODEL_TYPE_FIELD_NUMBER: _ClassVar[int]
    INPUT_MODALITIES_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    INPUT_PRICE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_PRICE_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_B_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    MODEL_CLASSES_FIELD_NUMBER: _ClassVar[int]
    STRONG_LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    ERROR_RATE_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_MODEL_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    model: str
    aliases: _containers.RepeatedScalarFieldContainer[str]
    vendor: str
    model_version: str
    provider: str
    region: str
    country: str
    sovereignty: str
    kind: str
    status: str
    retires_at: _timestamp_pb2.Timestamp
    suppressed_until: _timestamp_pb2.Timestamp
    model_type: str
    input_modalities: _containers.RepeatedScalarFieldContainer[str]
    context_window: int
    max_output_tokens: int
    input_price: float
    output_price: float
    parameters_b: float
    tags: _containers.RepeatedScalarFieldContainer[str]
    model_classes: _containers.RepeatedScalarFieldContainer[str]
    strong_languages: _containers.RepeatedScalarFieldContainer[str]
    tools: bool
    structured_output: str
    latency_ms: int
    tokens_per_second: float
    error_rate: float
    address: str
    upstream_model: str
    def __init__(self, endpoint_id: _Optional[str] = ..., model: _Optional[str] = ..., aliases: _Optional[_Iterable[str]] = ..., vendor: _Optional[str] = ..., model_version: _Optional[str] = ..., provider: _Optional[str] = ..., region: _Optional[str] = ..., country: _Optional[str] = ..., sovereignty: _Optional[str] = ..., kind: _Optional[str] = ..., status: _Optional[str] = ..., retires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., suppressed_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., model_type: _Optional[str] = ..., input_modalities: _Optional[_Iterable[str]] = ..., context_window: _Optional[int] = ..., max_output_tokens: _Optional[int] = ..., input_price: _Optional[float] = ..., output_price: _Optional[float] = ..., parameters_b: _Optional[float] = ..., tags: _Optional[_Iterable[str]] = ..., model_classes: _Optional[_Iterable[str]] = ..., strong_languages: _Optional[_Iterable[str]] = ..., tools: _Optional[bool] = ..., structured_output: _Optional[str] = ..., latency_ms: _Optional[int] = ..., tokens_per_second: _Optional[float] = ..., error_rate: _Optional[float] = ..., address: _Optional[str] = ..., upstream_model: _Optional[str] = ...) -> None: ...
