"""LiteLLM's model_prices file, as published → drafts of endpoints.

An entry is keyed by a model id and says at which provider the model is (`litellm_provider`), what it
does (`mode`), what a token costs in US dollars, and what it takes. What becomes of each field is in
docs/import.md.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

from router_service.catalog.importing.assemble import Imported, assemble
from router_service.catalog.importing.draft import Draft, documented, named
from router_service.catalog.importing.geography import region_in
from router_service.catalog.importing.kinds import (
    EMBEDDING,
    MODERATION,
    MODES,
    OTHER,
    RERANKER,
    modalities,
    refined,
)
from router_service.catalog.importing.money import PER_TOKEN, Money
from router_service.catalog.importing.owners import Owners
from router_service.catalog.importing.prices import Charges, token_prices
from router_service.catalog.importing.reading import UnreadableSource, lost_keys, read_object
from router_service.catalog.importing.report import LeftOut, Report
from router_service.catalog.importing.row import Row, is_number
from router_service.domain import words

_WHAT = "LiteLLM's model_prices_and_context_window.json"
_SAMPLE = "sample_spec"  # the entry that explains the fields

_INPUT_FLAGS = {
    "supports_vision": "image",
    "supports_image_input": "image",
    "supports_embedding_image_input": "image",
    "supports_audio_input": "audio",
    "supports_video_input": "video",
    "supports_pdf_input": "file",
}
_TAKES_TEXT = frozenset((words.TEXT, EMBEDDING, RERANKER, MODERATION))
# Both say that a given schema is followed; neither promises that every one is, so neither is `strict`.
_SCHEMA_FLAGS = ("supports_response_schema", "supports_native_structured_output")

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TOKEN_CHARGE = re.compile(r"_per_token|_token_cost")
_TIERS = ("tiered_pricing", "off_peak_pricing")
_TIER_CHARGE = re.compile(r"(input|output)_cost_per_token_above_")
_EU_SURCHARGE = "regional_processing_uplift_multiplier_eu"
_SURCHARGE = "_uplift_multiplier"


def import_litellm(source: bytes, *, owners: Owners, rate: Decimal, currency: str) -> Imported:
    """The endpoints of LiteLLM's file, all of kind `hosted` and status `up`, with an account of every row.

    `rate` is what a US dollar costs in `currency`. Raises UnreadableSource where the file is not
    LiteLLM's at all, and InvalidValue for a rate or a currency that makes no sense.
    """
    money = Money(rate, currency)
    entries = read_object(source, what=_WHAT)
    if not any(isinstance(entry, dict) and "litellm_provider" in entry for entry in entries.values()):
        raise UnreadableSource(f"no entry names a litellm_provider: give {_WHAT}, or import it as what it is")
    report = Report()
    for row_id in lost_keys(entries):
        report.rows_read += 1
        report.leave_out("duplicate_id", row_id)
    drafts: list[Draft] = []
    for row_id, entry in entries.items():
        report.rows_read += 1
        try:
            drafts.append(_draft(row_id, _model_entry(row_id, entry), money))
        except LeftOut as reason:
            report.leave_out(reason.reason, row_id)
    return assemble(drafts, owners=owners, currency=currency, report=report)


def _model_entry(row_id: str, entry: object) -> Row:
    if not isinstance(entry, dict):
        raise LeftOut("malformed")
    if row_id == _SAMPLE or entry.keys().isdisjoint(("litellm_provider", "mode", "alias_of")):
        raise LeftOut("not_a_model_entry")
    row = Row(entry)
    if row.text("alias_of") and not row.text("litellm_provider"):
        raise LeftOut("alias_entry")
    return row


def _draft(row_id: str, row: Row, money: Money) -> Draft:
    provider, mode = row.text("litellm_provider"), row.text("mode")
    if not provider:
        raise LeftOut("no_provider")
    if not mode:
        raise LeftOut("no_mode")
    name = named(row_id, row_id)
    inputs, outputs = row.texts("supported_modalities"), row.texts("supported_output_modalities")
    model_type = MODES.get(mode, OTHER)
    if model_type == words.TEXT:
        model_type = refined(inputs, outputs, name.stem)
        if model_type != words.TEXT:
            row.changes.add("type_from_id")
    schemas = [row.flag(flag) for flag in _SCHEMA_FLAGS]
    _count_surcharges(row)
    region = region_in(row_id, provider)
    facts: dict[str, object] = {
        "model_version": name.version,
        "model_type": model_type,
        "input_modalities": _inputs(row, model_type, inputs),
        "context_window": row.tokens("max_input_tokens"),
        "max_output_tokens": row.tokens("max_output_tokens"),
        **token_prices(_charges(row), model_type, money, PER_TOKEN, row.changes),
        "tags": ["reasoning"] if row.flag("supports_reasoning") else None,
        "tools": row.flag("supports_function_calling"),
        "structured_output": "json-schema" if any(schemas) else None,
        "retires_at": _retirement(row),
    }
    regions = (region,) if region else tuple(dict.fromkeys(filter(None, row.texts("supported_regions") or ())))
    return Draft(row_id, provider, name, regions, documented(facts), row.changes)


def _inputs(row: Row, model_type: str, given: tuple[str, ...] | None) -> list[str]:
    found = [modality for flag, modality in _INPUT_FLAGS.items() if row.flag(flag)]
    # A model that generates text, embeds or ranks takes text, whether or not that is spelt out.
    plain = (words.TEXT,) if model_type in _TAKES_TEXT else ()
    return modalities((*(plain if given is None else given), *found), row.changes)


def _charges(row: Row) -> Charges:
    """What the row charges: its own prices per token, else those of the tier that starts lowest."""
    base = row
    tiers = _tiers(row)
    if row.number("input_cost_per_token") is None and row.number("output_cost_per_token") is None and tiers:
        base = min(tiers, key=_start)
    if any(row.values.get(name) for name in _TIERS) or any(map(_TIER_CHARGE.match, row.values)):
        row.changes.add("tier_ignored")
    return Charges(
        base.number("input_cost_per_token"),
        base.number("output_cost_per_token"),
        reasoning=base.number("output_cost_per_reasoning_token"),
        other=any("cost" in name and not _TOKEN_CHARGE.search(name) for name in row.charges()),
    )


def _tiers(row: Row) -> list[Row]:
    tiers = row.values.get("tiered_pricing")
    if tiers is None:
        return []
    if not isinstance(tiers, list) or not all(isinstance(tier, dict) for tier in tiers):
        raise LeftOut("malformed")
    return [Row(tier, row.changes) for tier in tiers]


def _start(tier: Row) -> int | Decimal:
    """Where a tier starts, in tokens; without a readable range it is nobody's base."""
    span = tier.values.get("range")
    start = span[0] if isinstance(span, list) and span else None
    return start if is_number(start) else Decimal("Infinity")


def _count_surcharges(row: Row) -> None:
    for name in row.charges():
        if name == _EU_SURCHARGE:
            row.changes.add("eu_surcharge_ignored")
        elif _SURCHARGE in name:
            row.changes.add("other_surcharge_ignored")


def _retirement(row: Row) -> str | None:
    text = row.text("deprecation_date")
    try:
        if text and not _DATE.fullmatch(text):
            raise ValueError(text)
        return date.fromisoformat(text).isoformat() if text else None
    except ValueError:
        row.changes.add("date_unreadable")
        return None


__all__ = ["import_litellm"]
