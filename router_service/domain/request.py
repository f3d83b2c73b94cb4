"""RouteRequest: what a caller asks for; it may narrow a policy and never widen it (docs/decision.md, Vocabulary)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from router_service.domain import words
from router_service.domain.endpoint import MILLISECONDS
from router_service.domain.fields import Field, Table, read_fields, table
from router_service.domain.meanings import Language
from router_service.domain.money import LIMIT_MAX, TOKENS_MAX
from router_service.domain.policy import ENTRIES
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.readers import Each, Flag, Money, Text, Whole, Word

_TOKENS = Whole(0, TOKENS_MAX, "tokens")
_LIMIT = Money(LIMIT_MAX, rounded_down=True)
ATTEMPTS_MAX = 3
SHORT_LISTS = 16  # entries of all lists of a request together

FIELDS: Table = table(
    Field("model", Text(folded=True, ascii_only=True), "a model id, or auto for the whole pool"),
    Field(
        "task",
        Text(folded=True, pattern="[a-z0-9][a-z0-9-]{0,63}", pattern_cure="use a-z, 0-9 and -, at most 64"),
        "what the answer is for: general, cheap, retrieval, coding, multilingual, or any tag",
    ),
    Field("language", Language(), "BCP-47 tag of the language asked, mul for many"),
    Field("residency", Word(words.RESIDENCIES), "how far the data may go"),
    Field("regions", ENTRIES, "countries (DE, EU, EEA) and region ids, * allowed; empty is any"),
    Field("input_tokens", _TOKENS, "tokens of the prompt"),
    Field("output_tokens", _TOKENS, "the most tokens that may come, as max_tokens is"),
    Field("expected_output_tokens", _TOKENS, "the tokens that probably come"),
    Field("modalities", Each(Word(words.MODALITIES)), "what the request holds; empty is text"),
    Field("requires_tools", Flag(), "whether tools are called"),
    Field("structured_output", Word(words.STRUCTURED_OUTPUTS), "the schema guarantee that is needed"),
    Field("model_classes", Each(Text(folded=True)), "classes of which the model must have one; empty is any"),
    Field("max_price", _LIMIT, "ceiling of the blended price per million tokens"),
    Field("max_cost", _LIMIT, "the most that one attempt may cost"),
    Field("deadline_ms", MILLISECONDS, "what is left of the caller's time"),
    Field("exclude_endpoints", Each(Text()), "endpoints that were tried already"),
    Field("max_attempts", Whole(1, ATTEMPTS_MAX), "how long the failover list may be"),
)


class RouteRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request in canonical units (limits in millionths); `read` makes one of raw values.

    `language` is the primary subtag; an empty `residency` names none; None is "not given", which is not zero.
    """

    model: str = ""
    task: str = words.GENERAL
    language: str = ""
    residency: str = ""
    regions: tuple[str, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    expected_output_tokens: int | None = None
    modalities: tuple[str, ...] = (words.TEXT,)
    requires_tools: bool = False
    structured_output: str = "none"
    model_classes: tuple[str, ...] = ()
    max_price: int | None = None
    max_cost: int | None = None
    deadline_ms: int | None = None
    exclude_endpoints: tuple[str, ...] = ()
    max_attempts: int = ATTEMPTS_MAX

    @property
    def is_short(self) -> bool:
        """Whether its lists are short enough for it to be kept in memory by the thousand."""
        return self.entries <= SHORT_LISTS

    @property
    def entries(self) -> int:
        """The entries of all its lists."""
        return len(self.regions) + len(self.model_classes) + len(self.exclude_endpoints)

    @classmethod
    def read(cls, raw: Mapping[str, object]) -> RouteRequest:
        """The request that `raw` describes by the names of `FIELDS`. Raises InvalidValue with every problem at once."""
        values, problems = read_fields(FIELDS, raw)
        problems += contradictions(values)
        if problems:
            raise InvalidValue("request", problems)
        return cls(**values)


class Stated(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields that a request, or a workload, states itself, in the units of RouteRequest; None is "not stated".

    Where two are joined, what one of them leaves open must not pass for a wish, as a default would.
    """

    model: str | None = None
    task: str | None = None
    language: str | None = None
    residency: str | None = None
    regions: tuple[str, ...] | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    expected_output_tokens: int | None = None
    modalities: tuple[str, ...] | None = None
    requires_tools: bool | None = None
    structured_output: str | None = None
    model_classes: tuple[str, ...] | None = None
    max_price: int | None = None
    max_cost: int | None = None
    deadline_ms: int | None = None
    exclude_endpoints: tuple[str, ...] | None = None
    max_attempts: int | None = None

    @classmethod
    def read(cls, raw: Mapping[str, object]) -> Stated:
        """What `raw` states by the names of `FIELDS`; an empty list states nothing. Raises InvalidValue.

        It may be a part of a request alone, so a limit of cost needs no input tokens here.
        """
        values, problems = read_fields(FIELDS, raw)
        stated = cls.of(values, problems)
        if problems:
            raise InvalidValue("request", problems)
        return stated

    @classmethod
    def of(cls, values: Mapping[str, Any], problems: list[Problem]) -> Stated:
        """What these canonical values state; what makes no sense among them is added to `problems`."""
        problems += _expects_too_much(values)
        return cls(**{name: value for name, value in values.items() if value != ()})

    @property
    def values(self) -> dict[str, Any]:
        """The stated values by the names of their fields, in the order of `FIELDS`."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}

    @property
    def alone(self) -> RouteRequest:
        """The request of nothing but these fields."""
        return RouteRequest(**self.values)


def contradictions(values: Mapping[str, Any]) -> list[Problem]:
    """The problems of fields that are sound alone and make no sense together, in a request that is whole."""
    problems = _expects_too_much(values)
    if "max_cost" in values and "input_tokens" not in values:
        problems.append(Problem("max_cost", "a limit of cost without input_tokens", "give input_tokens"))
    return problems


def _expects_too_much(values: Mapping[str, Any]) -> list[Problem]:
    problems = []
    expected, most = values.get("expected_output_tokens"), values.get("output_tokens")
    if expected is not None and most is not None and expected > most:
        problems.append(
            Problem(
                "expected_output_tokens",
                f"{expected} is more than output_tokens, {most}",
                "expect at most as many tokens as may come, or let more come",
            )
        )
    return problems
