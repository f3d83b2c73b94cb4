"""Policy: what a caller's requests may use, whatever they ask for (docs/decision.md, Vocabulary)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from router_service.domain import words
from router_service.domain.fields import Field, Table, read_fields, table
from router_service.domain.money import LIMIT_MAX
from router_service.domain.problems import InvalidValue
from router_service.domain.readers import Each, Flag, Money, Text, Word

ENTRIES = Each(Text())
DEFAULT_RETENTION = "30d"

FIELDS: Table = table(
    Field("policy_id", Text(), "a unique, stable name of the policy", required=True),
    Field("residency", Each(Word(words.SOVEREIGNTIES), least=1), "the classes of sovereignty that it admits"),
    Field("regions", ENTRIES, "countries (DE, EU, EEA) and region ids, * allowed; empty is any"),
    Field("provider_allow", ENTRIES, "providers that it admits, * allowed; empty is all"),
    Field("provider_deny", ENTRIES, "providers that it refuses, * allowed"),
    Field("model_allow", ENTRIES, "models that it admits, * allowed; empty is all"),
    Field("model_deny", ENTRIES, "models that it refuses, * allowed"),
    Field("partner_endpoints", Flag(), "whether endpoints of partners may be used"),
    Field("max_price", Money(LIMIT_MAX, rounded_down=True), "ceiling of the blended price per million tokens"),
    Field("exact_models", Flag(), "whether a model id must name its version exactly"),
    Field(
        "retention",
        Text(folded=True, pattern="0|[1-9][0-9]{0,4}[smhdw]", pattern_cure="write 0, or a number with s, m, h, d or w"),
        "how long its traces are kept, such as 30d",
    ),
    Field("data_classes", Each(Text(folded=True)), "the classes of data that requests may name; empty is any"),
    Field("require_data_class", Flag(), "whether a request must name a class of data"),
    Field("daily_budget", Money(LIMIT_MAX, rounded_down=True), "what its requests may cost on one calendar day"),
    Field(
        "default_reservation",
        Money(LIMIT_MAX, rounded_down=True),
        "what a request without both token counts reserves of the budget",
    ),
    Field("time_zone", Text(), "the IANA time zone of its calendar day; empty is UTC"),
    Field("budget_fail_open", Flag(), "whether requests go on while the store that holds the budget is lost"),
)


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """One policy in canonical units (`max_price` in millionths); `read` makes one of raw values.

    Entries stay as they were written, since explanations quote them. An empty `retention` is the default. The fields
    from `data_classes` on act before the engine, which does not look at them.
    """

    policy_id: str
    residency: tuple[str, ...] = (words.EU_HOSTED,)
    regions: tuple[str, ...] = ()
    provider_allow: tuple[str, ...] = ()
    provider_deny: tuple[str, ...] = ()
    model_allow: tuple[str, ...] = ()
    model_deny: tuple[str, ...] = ()
    partner_endpoints: bool = False
    max_price: int | None = None
    exact_models: bool = False
    retention: str = ""
    data_classes: tuple[str, ...] = ()
    require_data_class: bool = False
    daily_budget: int | None = None
    default_reservation: int = 0
    time_zone: str = ""
    budget_fail_open: bool = False

    @classmethod
    def read(cls, raw: Mapping[str, object]) -> Policy:
        """The policy that `raw` describes by the names of `FIELDS`. Raises InvalidValue with every problem at once."""
        values, problems = read_fields(FIELDS, raw)
        if problems:
            raise InvalidValue(str(raw.get("policy_id") or "policy"), problems)
        return cls(**values)

    @property
    def own_residency(self) -> str:
        """The residency of a request that names none: `eu-hosted` while every listed class is an EU one."""
        return words.EU_HOSTED if words.EU_CLASSES.issuperset(self.residency) else words.ANY

    def effective_residency(self, asked: str) -> str:
        """The residency that holds for a request that asks for `asked`; `any` cannot widen a policy of EU classes."""
        return self.own_residency if asked in ("", words.ANY) else asked

    def admits_class(self, sovereignty: str) -> bool:
        """Whether the policy's `residency` admits a class (empty is undocumented)."""
        if sovereignty == words.EU_OWNED:
            return not words.EU_CLASSES.isdisjoint(self.residency)
        return (sovereignty or words.GLOBAL) in self.residency


def residency_admits(residency: str, sovereignty: str) -> bool:
    """Whether a residency admits a class: eu-owned is inside eu-hosted, which is inside any."""
    if residency == words.ANY:
        return True
    if residency == words.EU_HOSTED:
        return sovereignty in words.EU_CLASSES
    return sovereignty == words.EU_OWNED
