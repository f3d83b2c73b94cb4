"""The form of a catalogue's files: which keys stand where, who reads them, and what is refused with which cure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from router_service.domain import words
from router_service.domain.endpoint import FIELDS as ENDPOINT_FIELDS
from router_service.domain.endpoint import MODEL_FACTS
from router_service.domain.fields import Field, Table, table
from router_service.domain.policy import FIELDS as POLICY_FIELDS
from router_service.domain.readers import Each, Text
from router_service.domain.thresholds import FIELDS as THRESHOLD_FIELDS
from router_service.domain.workload import FIELDS as WORKLOAD_FIELDS

Refused = Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Section:
    """One list of a file: `key` names its entries, `defaults` are the values of what no file writes.

    `refused` are keys that mean something, but not here: message and cure. Where there is a `version_key` too, an entry
    is named by both: `name@version`.
    """

    name: str
    key: str
    about: str
    fields: Table
    defaults: Mapping[str, str] = field(default_factory=dict)
    refused: Refused = field(default_factory=dict)
    overlays: bool = True  # whether a later file may state keys of an entry anew
    version_key: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that name an entry, which each must have."""
        return (self.key, self.version_key) if self.version_key else (self.key,)


MODELS = Section(
    "models",
    "model",
    "what can be asked for, with the facts that hold wherever it is called",
    table(
        Field("model", ENDPOINT_FIELDS["model"].reader, "the slug that names the model", required=True),
        ENDPOINT_FIELDS["aliases"],
        *MODEL_FACTS.values(),
    ),
    defaults={"model_type": words.TEXT},
)
ENDPOINTS = Section(
    "endpoints",
    "endpoint_id",
    "places where a model can be called; the facts of its model hold unless stated otherwise",
    table(*(one for name, one in ENDPOINT_FIELDS.items() if name not in ("aliases", "suppressed_until"))),
    defaults={"kind": words.HOSTED, "status": words.UP},
    refused={
        "aliases": ("aliases belong to the model", "move them to its entry under models"),
        "suppressed_until": ("set while serving, by what is reported", "remove it, or write status: down"),
    },
)
POLICIES = Section(
    "policies",
    "policy_id",
    "what a caller's requests may use, whatever they ask for",
    POLICY_FIELDS,
    overlays=False,
)
WORKLOADS = Section(
    "workloads",
    "name",
    "contracts of routing that requests name, inherit and can only narrow",
    WORKLOAD_FIELDS,
    refused={
        "model": ("a workload pins no model", "list model_classes, or let each request name its model"),
        "exclude_endpoints": ("only a request has tried endpoints already", "remove it"),
    },
    overlays=False,
    version_key="version",
)
SECTIONS = (MODELS, ENDPOINTS, POLICIES, WORKLOADS)

# The one mapping that is no list: its keys stand in the file by themselves, so that it has no key that names it.
CIRCUITS = Section(
    "circuits",
    "",
    "when an endpoint that fails is left out, for how long, and what observed figures are worth",
    THRESHOLD_FIELDS,
)

SETTINGS: Table = table(
    Field(
        "currency",
        Text(pattern="[A-Za-z]{3}", pattern_cure="use three letters of ISO 4217, such as EUR"),
        "the one currency of all prices and limits, by ISO 4217, such as EUR",
        required=True,
    ),
    Field("default_policy", POLICY_FIELDS["policy_id"].reader, "the policy of a request that names none"),
    Field(
        "pool_names",
        Each(Text(folded=True, ascii_only=True)),
        "model ids that stand for the whole pool, besides auto, llmeu-auto, llmeu/auto and llmeu:auto",
    ),
)
TOP_LEVEL: Mapping[str, object] = {**SETTINGS, **{section.name: section for section in (*SECTIONS, CIRCUITS)}}
