from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Policy(_message.Message):
    __slots__ = ("policy_id", "residency", "regions", "provider_allow", "provider_deny", "model_allow", "model_deny", "partner_endpoints", "max_price", "exact_models", "retention", "data_classes", "require_data_class", "daily_budget", "default_reservation", "time_zone", "budget_fail_open")
    POLICY_ID_FIELD_NUMBER: _ClassVar[int]
    RESIDENCY_FIELD_NUMBER: _ClassVar[int]
    REGIONS_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_ALLOW_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_DENY_FIELD_NUMBER: _ClassVar[int]
    MODEL_ALLOW_FIELD_NUMBER: _ClassVar[int]
    MODEL_DENY_FIELD_NUMBER: _ClassVar[int]
    PARTNER_ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
    MAX_PRICE_FIELD_NUMBER: _ClassVar[int]
    EXACT_MODELS_FIELD_NUMBER: _ClassVar[int]
    RETENTION_FIELD_NUMBER: _ClassVar[int]
    DATA_CLASSES_FIELD_NUMBER: _ClassVar[int]
    REQUIRE_DATA_CLASS_FIELD_NUMBER: _ClassVar[int]
    DAILY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_RESERVATION_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FAIL_OPEN_FIELD_NUMBER: _ClassVar[int]
    policy_id: str
    residency: _containers.RepeatedScalarFieldContainer[str]
    regions: _containers.RepeatedScalarFieldContainer[str]
    provider_allow: _containers.RepeatedScalarFieldContainer[str]
    provider_deny: _containers.RepeatedScalarFieldContainer[str]
    model_allow: _containers.RepeatedScalarFieldContainer[str]
    model_deny: _containers.RepeatedScalarFieldContainer[str]
    partner_endpoints: bool
    max_price: float
    exact_models: bool
    retention: str
    data_classes: _containers.RepeatedScalarFieldContainer[str]
    require_data_class: bool
    daily_budget: float
    default_reservation: float
    time_zone: str
    budget_fail_open: bool
    def __init__(self, policy_id: _Optional[str] = ..., residency: _Optional[_Iterable[str]] = ..., regions: _Optional[_Iterable[str]] = ..., provider_allow: _Optional[_Iterable[str]] = ..., provider_deny: _Optional[_Iterable[str]] = ..., model_allow: _Optional[_Iterable[str]] = ..., model_deny: _Optional[_Iterable[str]] = ..., partner_endpoints: _Optional[bool] = ..., max_price: _Optional[float] = ..., exact_models: _Optional[bool] = ..., retention: _Optional[str] = ..., data_classes: _Optional[_Iterable[str]] = ..., require_data_class: _Optional[bool] = ..., daily_budget: _Optional[float] = ..., default_reservation: _Optional[float] = ..., time_zone: _Optional[str] = ..., budget_fail_open: _Optional[bool] = ...) -> None: ...
