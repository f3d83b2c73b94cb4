"""The closed sets of words that endpoints, policies and requests use (docs/decision.md, Vocabulary)."""

from __future__ import annotations

EU_OWNED = "eu-owned"
EU_HOSTED = "eu-hosted"
GLOBAL = "global"
ANY = "any"

SOVEREIGNTIES = (EU_OWNED, EU_HOSTED, GLOBAL)
RESIDENCIES = (EU_OWNED, EU_HOSTED, ANY)
EU_CLASSES = frozenset((EU_OWNED, EU_HOSTED))

HOSTED = "hosted"
PARTNER = "partner"
CATALOG_ONLY = "catalog-only"
KINDS = (HOSTED, PARTNER, CATALOG_ONLY)

UP = "up"
DEGRADED = "degraded"
UNKNOWN = "unknown"
STATUSES = (UP, DEGRADED, "down", "maintenance", UNKNOWN)
ROUTABLE_STATUSES = frozenset((UP, DEGRADED))

TEXT = "text"
IMAGE = "image"
MODEL_TYPES = (TEXT, "speech", "embedding", "reranker", IMAGE, "moderation", "other")
MODALITIES = (TEXT, IMAGE, "audio", "video", "file")
# The modalities that rule 14 tests, in the order that its detail names them.
OTHER_MODALITIES = ("audio", "file", "video")

STRUCTURED_OUTPUTS = ("none", "json-object", "json-schema", "strict")  # each level includes those before it

GENERAL = "general"
RETRIEVAL = "retrieval"
TASK_ALIASES = {"rag": RETRIEVAL}

# Model ids that name the whole pool instead of one model; a catalogue may add its own.
POOL_NAMES = frozenset(("", "auto", "llmeu-auto", "llmeu/auto", "llmeu:auto"))
