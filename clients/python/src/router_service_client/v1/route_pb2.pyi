import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RouteRequest(_message.Message):
    __slots__ = ("model", "task", "language", "residency", "regions", "input_tokens", "output_tokens", "expected_output_tokens", "modalities", "requires_tools", "structured_output", "model_classes", "max_price", "max_cost", "deadline_ms", "exclude_endpoints", "max_attempts")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    RESIDENCY_FIELD_NUMBER: _ClassVar[int]
    REGIONS_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MODALITIES_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_TOOLS_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    MODEL_CLASSES_FIELD_NUMBER: _ClassVar[int]
    MAX_PRICE_FIELD_NUMBER: _ClassVar[int]
    MAX_COST_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
    MAX_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    model: str
    task: str
    language: str
    residency: str
    regions: _containers.RepeatedScalarFieldContainer[str]
    input_tokens: int
    output_tokens: int
    expected_output_tokens: int
    modalities: _containers.RepeatedScalarFieldContainer[str]
    requires_tools: bool
    structured_output: str
    model_classes: _containers.RepeatedScalarFieldContainer[str]
    max_price: float
    max_cost: float
    deadline_ms: int
    exclude_endpoints: _containers.RepeatedScalarFieldContainer[str]
    max_attempts: int
    def __init__(self, model: _Optional[str] = ..., task: _Optional[str] = ..., language: _Optional[str] = ..., residency: _Optional[str] = ..., regions: _Optional[_Iterable[str]] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., expected_output_tokens: _Optional[int] = ..., modalities: _Optional[_Iterable[str]] = ..., requires_tools: _Optional[bool] = ..., structured_output: _Optional[str] = ..., model_classes: _Optional[_Iterable[str]] = ..., max_price: _Optional[float] = ..., max_cost: _Optional[float] = ..., deadline_ms: _Optional[int] = ..., exclude_endpoints: _Optional[_Iterable[str]] = ..., max_attempts: _Optional[int] = ...) -> None: ...

class Term(_message.Message):
    __slots__ = ("raw", "weighted")
    RAW_FIELD_NUMBER: _ClassVar[int]
    WEIGHTED_FIELD_NUMBER: _ClassVar[int]
    raw: float
    weighted: float
    def __init__(self, raw: _Optional[float] = ..., weighted: _Optional[float] = ...) -> None: ...

class Terms(_message.Message):
    __slots__ = ("task_fit", "language_fit", "documentation", "sovereignty", "price", "latency", "error_rate")
    TASK_FIT_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTATION_FIELD_NUMBER: _ClassVar[int]
    SOVEREIGNTY_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    LATENCY_FIELD_NUMBER: _ClassVar[int]
    ERROR_RATE_FIELD_NUMBER: _ClassVar[int]
    task_fit: Term
    language_fit: Term
    documentation: Term
    sovereignty: Term
    price: Term
    latency: Term
    error_rate: Term
    def __init__(self, task_fit: _Optional[_Union[Term, _Mapping]] = ..., language_fit: _Optional[_Union[Term, _Mapping]] = ..., documentation: _Optional[_Union[Term, _Mapping]] = ..., sovereignty: _Optional[_Union[Term, _Mapping]] = ..., price: _Optional[_Union[Term, _Mapping]] = ..., latency: _Optional[_Union[Term, _Mapping]] = ..., error_rate: _Optional[_Union[Term, _Mapping]] = ...) -> None: ...

class Candidate(_message.Message):
    __slots__ = ("endpoint_id", "model", "model_version", "provider", "region", "country", "sovereignty", "score", "terms", "estimated_cost", "need_ms", "allowance_ms", "context_window", "max_output_tokens")
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MODEL_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    COUNTRY_FIELD_NUMBER: _ClassVar[int]
    SOVEREIGNTY_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    TERMS_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_COST_FIELD_NUMBER: _ClassVar[int]
    NEED_MS_FIELD_NUMBER: _ClassVar[int]
    ALLOWANCE_MS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    model: str
    model_version: str
    provider: str
    region: str
    country: str
    sovereignty: str
    score: float
    terms: Terms
    estimated_cost: float
    need_ms: int
    allowance_ms: int
    context_window: int
    max_output_tokens: int
    def __init__(self, endpoint_id: _Optional[str] = ..., model: _Optional[str] = ..., model_version: _Optional[str] = ..., provider: _Optional[str] = ..., region: _Optional[str] = ..., country: _Optional[str] = ..., sovereignty: _Optional[str] = ..., score: _Optional[float] = ..., terms: _Optional[_Union[Terms, _Mapping]] = ..., estimated_cost: _Optional[float] = ..., need_ms: _Optional[int] = ..., allowance_ms: _Optional[int] = ..., context_window: _Optional[int] = ..., max_output_tokens: _Optional[int] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("trace_id", "policy_id", "requested_model", "resolved_model", "steps", "approximate", "pinned", "effective_residency", "retention", "considered", "excluded", "reasons", "catalog_version", "candidates", "sentence")
    class ReasonsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_ID_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_MODEL_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_MODEL_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_RESIDENCY_FIELD_NUMBER: _ClassVar[int]
    RETENTION_FIELD_NUMBER: _ClassVar[int]
    CONSIDERED_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    CATALOG_VERSION_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    policy_id: str
    requested_model: str
    resolved_model: str
    steps: _containers.RepeatedScalarFieldContainer[str]
    approximate: bool
    pinned: bool
    effective_residency: str
    retention: str
    considered: int
    excluded: int
    reasons: _containers.ScalarMap[str, int]
    catalog_version: str
    candidates: _containers.RepeatedCompositeFieldContainer[Candidate]
    sentence: str
    def __init__(self, trace_id: _Optional[str] = ..., policy_id: _Optional[str] = ..., requested_model: _Optional[str] = ..., resolved_model: _Optional[str] = ..., steps: _Optional[_Iterable[str]] = ..., approximate: _Optional[bool] = ..., pinned: _Optional[bool] = ..., effective_residency: _Optional[str] = ..., retention: _Optional[str] = ..., considered: _Optional[int] = ..., excluded: _Optional[int] = ..., reasons: _Optional[_Mapping[str, int]] = ..., catalog_version: _Optional[str] = ..., candidates: _Optional[_Iterable[_Union[Candidate, _Mapping]]] = ..., sentence: _Optional[str] = ...) -> None: ...

class Refusal(_message.Message):
    __slots__ = ("trace_id", "policy_id", "requested_model", "resolved_model", "steps", "approximate", "pinned", "effective_residency", "retention", "considered", "excluded", "reasons", "catalog_version", "code", "message", "http_status", "transient", "retry_after", "close_slugs")
    class ReasonsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_ID_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_MODEL_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_MODEL_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    APPROXIMATE_FIELD_NUMBER: _ClassVar[int]
    PINNED_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_RESIDENCY_FIELD_NUMBER: _ClassVar[int]
    RETENTION_FIELD_NUMBER: _ClassVar[int]
    CONSIDERED_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    CATALOG_VERSION_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    TRANSIENT_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    CLOSE_SLUGS_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    policy_id: str
    requested_model: str
    resolved_model: str
    steps: _containers.RepeatedScalarFieldContainer[str]
    approximate: bool
    pinned: bool
    effective_residency: str
    retention: str
    considered: int
    excluded: int
    reasons: _containers.ScalarMap[str, int]
    catalog_version: str
    code: str
    message: str
    http_status: int
    transient: bool
    retry_after: _duration_pb2.Duration
    close_slugs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, trace_id: _Optional[str] = ..., policy_id: _Optional[str] = ..., requested_model: _Optional[str] = ..., resolved_model: _Optional[str] = ..., steps: _Optional[_Iterable[str]] = ..., approximate: _Optional[bool] = ..., pinned: _Optional[bool] = ..., effective_residency: _Optional[str] = ..., retention: _Optional[str] = ..., considered: _Optional[int] = ..., excluded: _Optional[int] = ..., reasons: _Optional[_Mapping[str, int]] = ..., catalog_version: _Optional[str] = ..., code: _Optional[str] = ..., message: _Optional[str] = ..., http_status: _Optional[int] = ..., transient: _Optional[bool] = ..., retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., close_slugs: _Optional[_Iterable[str]] = ...) -> None: ...
