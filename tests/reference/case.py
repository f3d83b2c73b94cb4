"""A case of the vectors (catalog, policy, request, now) read into values with defaults (§1)."""

from typing import Any, NamedTuple

from .languages import primary_language
from .text import fold, fold_all, limit_micros, price_micros, trim

JsonDict = dict[str, Any]

SOVEREIGNTY_CLASSES = ("eu-owned", "eu-hosted", "global")
EU_CLASSES = ("eu-owned", "eu-hosted")
STRUCTURED_LEVELS = ("none", "json-object", "json-schema", "strict")
DEFAULT_LATENCY_MS = 500


class Endpoint(NamedTuple):
    """One endpoint; matched text is folded, `raw` keeps what is shown as it was written."""

    raw: JsonDict
    endpoint_id: str
    model: str
    aliases: list[str]
    vendor: str
    provider: str
    region: str
    country: str
    sovereignty: str
    kind: str
    status: str
    retires_at: int | None
    suppressed_until: int | None
    model_type: str
    input_modalities: list[str]
    context_window: int | None
    max_output_tokens: int | None
    input_price: int | None
    output_price: int | None
    parameters_b: float | None
    tags: set[str]
    model_classes: list[str]
    strong_languages: set[str]
    tools: bool
    structured_output: str
    latency_ms: int | None
    tokens_per_second: float | None
    error_rate: float | None

    @property
    def latency_or_default(self) -> int:
        """The latency that §4 and the need count with where none is recorded."""
        return DEFAULT_LATENCY_MS if self.latency_ms is None else self.latency_ms

    @property
    def priced(self) -> bool:
        """Whether both prices are documented."""
        return self.input_price is not None and self.output_price is not None


class Policy(NamedTuple):
    """A policy; the deny lists keep their entries as written, since details quote them."""

    policy_id: str
    residency: list[str]
    regions: list[str]
    provider_allow: list[str]
    provider_deny: list[str]
    model_allow: list[str]
    model_deny: list[str]
    partner_endpoints: bool
    max_price: int | None
    exact_models: bool
    retention: str | None

    @property
    def own_residency(self) -> str:
        """What a request that names no residency gets (§1, Sovereignty sets)."""
        return "eu-hosted" if all(c in EU_CLASSES for c in self.residency) else "any"


class Request(NamedTuple):
    """A request; limits in millionths, tokens and milliseconds whole, None where absent."""

    model: str
    task: str
    language: str
    residency: str
    regions: list[str]
    input_tokens: int | None
    output_tokens: int | None
    expected_output_tokens: int | None
    modalities: list[str]
    requires_tools: bool
    structured_output: str
    model_classes: list[str]
    max_price: int | None
    max_cost: int | None
    deadline_ms: int | None
    exclude_endpoints: set[str]
    max_attempts: int


def read_endpoint(raw: JsonDict) -> Endpoint:
    """An endpoint; an absent key, a null and an empty text all mean not documented."""
    get = raw.get
    languages = {primary_language(language) for language in get("strong_languages") or ()}
    return Endpoint(
        raw=raw,
        endpoint_id=trim(get("endpoint_id")),
        model=fold(get("model")),
        aliases=fold_all(get("aliases")),
        vendor=fold(get("vendor")),
        provider=fold(get("provider")),
        region=fold(get("region")),
        country=fold(get("country")).upper(),
        sovereignty=fold(get("sovereignty")),
        kind=fold(get("kind")),
        status=fold(get("status")),
        retires_at=get("retires_at"),
        suppressed_until=get("suppressed_until"),
        model_type=fold(get("model_type")),
        input_modalities=fold_all(get("input_modalities")),
        context_window=get("context_window"),
        max_output_tokens=get("max_output_tokens"),
        input_price=price_micros(get("input_price")),
        output_price=price_micros(get("output_price")),
        parameters_b=get("parameters_b"),
        tags=set(fold_all(get("tags"))),
        model_classes=fold_all(get("model_classes")),
        strong_languages=languages - {""},
        tools=bool(get("tools")),
        structured_output=fold(get("structured_output")) or "none",
        latency_ms=get("latency_ms"),
        tokens_per_second=get("tokens_per_second"),
        error_rate=get("error_rate"),
    )


def read_policy(raw: JsonDict) -> Policy:
    """A policy with §1's defaults."""
    get = raw.get
    return Policy(
        policy_id=trim(get("policy_id")),
        residency=fold_all(get("residency")) or ["eu-hosted"],
        regions=fold_all(get("regions")),
        provider_allow=fold_all(get("provider_allow")),
        provider_deny=[trim(entry) for entry in get("provider_deny") or ()],
        model_allow=fold_all(get("model_allow")),
        model_deny=[trim(entry) for entry in get("model_deny") or ()],
        partner_endpoints=bool(get("partner_endpoints")),
        max_price=limit_micros(get("max_price")),
        exact_models=bool(get("exact_models")),
        retention=get("retention"),
    )


def read_request(raw: JsonDict) -> Request:
    """A request with §1's defaults; the task `rag` is `retrieval` from here on (§4)."""
    get = raw.get
    task = fold(get("task")) or "general"
    attempts = get("max_attempts")
    return Request(
        model=fold(get("model")),
        task="retrieval" if task == "rag" else task,
        language=primary_language(get("language")),
        residency=fold(get("residency")),
        regions=fold_all(get("regions")),
        input_tokens=get("input_tokens"),
        output_tokens=get("output_tokens"),
        expected_output_tokens=get("expected_output_tokens"),
        modalities=fold_all(get("modalities")) or ["text"],
        requires_tools=bool(get("requires_tools")),
        structured_output=fold(get("structured_output")) or "none",
        model_classes=fold_all(get("model_classes")),
        max_price=limit_micros(get("max_price")),
        max_cost=limit_micros(get("max_cost")),
        deadline_ms=get("deadline_ms"),
        exclude_endpoints={trim(endpoint_id) for endpoint_id in get("exclude_endpoints") or ()},
        max_attempts=3 if attempts is None else attempts,
    )
