"""Endpoint: one place where one model can be called, with its facts (docs/decision.md, Vocabulary)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import msgspec

from router_service.domain import words
from router_service.domain.addresses import BaseUrl
from router_service.domain.fields import Field, Table, read_fields, table
from router_service.domain.meanings import Country, Instant, Language
from router_service.domain.money import PRICE_MAX, TOKENS_MAX
from router_service.domain.places import in_eea
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.readers import Each, Flag, Money, Real, Text, Whole, Word

_SLUG = Text(folded=True, ascii_only=True)
_TAGS = Each(Text(folded=True))
_TOKENS = Whole(0, TOKENS_MAX, "tokens")
_PRICE = Money(PRICE_MAX)
MILLISECONDS = Whole(0, 2**32 - 1, "milliseconds")

# Facts that belong to a model and that each of its endpoints may state otherwise.
MODEL_FACTS: Table = table(
    Field("vendor", Text(folded=True), "who made the model"),
    Field("model_version", Text(), "the version that answers here"),
    Field("model_type", Word(words.MODEL_TYPES), "what the model produces", required=True),
    Field("input_modalities", Each(Word(words.MODALITIES)), "what the model takes in"),
    Field("context_window", _TOKENS, "tokens of input and output together"),
    Field("max_output_tokens", _TOKENS, "the most tokens of one answer"),
    Field("input_price", _PRICE, "per million input tokens; 0 is a documented price"),
    Field("output_price", _PRICE, "per million output tokens; 0 is a documented price"),
    Field("parameters_b", Real(0, 10**6), "total parameters in billions"),
    Field("tags", _TAGS, "task tags such as coding, reasoning"),
    Field("model_classes", _TAGS, "classes such as document-extraction"),
    Field("strong_languages", Each(Language(subtag_only=True)), "primary language subtags such as de, fr"),
    Field("tools", Flag(), "whether it supports tool calling"),
    Field("structured_output", Word(words.STRUCTURED_OUTPUTS), "the strongest schema guarantee it gives"),
)

FIELDS: Table = table(
    Field("endpoint_id", Text(), "a unique, stable name of the endpoint", required=True),
    Field("model", _SLUG, "the slug of the model that answers here", required=True),
    Field("aliases", Each(_SLUG), "other ids of the same model"),
    Field("provider", Text(), "who serves it"),
    Field("region", Text(), "the provider's own region id"),
    Field("country", Country(), "ISO 3166-1 alpha-2 code of where inference happens, or EU"),
    Field("sovereignty", Word(words.SOVEREIGNTIES), "who owns the place and where it is"),
    Field("kind", Word(words.KINDS), "hosted, partner or catalog-only", required=True),
    Field("status", Word(words.STATUSES), "up, degraded, down, maintenance or unknown", required=True),
    Field("retires_at", Instant(), "from when on it no longer answers"),
    Field("suppressed_until", Instant(), "until when its circuit is open; set by the layer above"),
    Field("latency_ms", MILLISECONDS, "recorded median to the first token"),
    Field(
        "tokens_per_second",
        Real(0, 10**9, above_least=True, into=Fraction),
        "recorded median speed of generation",
    ),
    Field("error_rate", Real(0, 1), "recorded share of failures, 0 to 1"),
    Field("address", BaseUrl(), "the base URL under which it is called, as OpenAI's SDKs take it"),
    Field("upstream_model", Text(), "what the provider calls the model; absent is the slug"),
    *MODEL_FACTS.values(),
)


class Endpoint(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One endpoint in canonical units; `read` makes one of raw values.

    Prices are integer millionths of the currency per million tokens, instants and durations integer milliseconds,
    `tokens_per_second` an exact fraction. None and empty text are "not documented", which is not zero.
    """

    endpoint_id: str
    model: str
    kind: str
    status: str
    model_type: str
    aliases: tuple[str, ...] = ()
    vendor: str = ""
    model_version: str = ""
    provider: str = ""
    region: str = ""
    country: str = ""
    sovereignty: str = ""
    retires_at: int | None = None
    suppressed_until: int | None = None
    input_modalities: tuple[str, ...] = ()
    context_window: int | None = None
    max_output_tokens: int | None = None
    input_price: int | None = None
    output_price: int | None = None
    parameters_b: float | None = None
    tags: tuple[str, ...] = ()
    model_classes: tuple[str, ...] = ()
    strong_languages: tuple[str, ...] = ()
    tools: bool = False
    structured_output: str = "none"
    latency_ms: int | None = None
    tokens_per_second: Fraction | None = None
    error_rate: float | None = None
    address: str = ""
    upstream_model: str = ""

    def __post_init__(self) -> None:
        problem = _unfounded_class(self.sovereignty, self.country)
        if problem:
            raise InvalidValue(self.endpoint_id, [problem])

    @classmethod
    def read(cls, raw: Mapping[str, object]) -> Endpoint:
        """The endpoint that `raw` describes by the names of `FIELDS`, prices as decimals of the currency.

        Raises InvalidValue with every problem at once.
        """
        values, problems = read_fields(FIELDS, raw)
        problem = _unfounded_class(values.get("sovereignty", ""), values.get("country", ""))
        if problem and not any(known.field in ("country", "sovereignty") for known in problems):
            problems.append(problem)
        if problems:
            raise InvalidValue(str(raw.get("endpoint_id") or "endpoint"), problems)
        return cls(**values)


def _unfounded_class(sovereignty: str, country: str) -> Problem | None:
    """An EU class is a claim about where inference happens, so it needs a country that bears it out."""
    if sovereignty not in words.EU_CLASSES or in_eea(country):
        return None
    where = f"country {country}" if country else "no country"
    return Problem(
        "sovereignty",
        f"class {sovereignty} with {where}, which is not in the EU/EEA",
        "name a country of the EU/EEA (or EU), or use the class global",
    )
