"""models.dev's api.json, as published → drafts of endpoints.

The file is keyed by provider, and each provider's `models` by model id. Prices are US dollars per
million tokens. What becomes of each field is in docs/import.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from router_service.catalog.importing.assemble import Imported, assemble
from router_service.catalog.importing.draft import Draft, documented, named
from router_service.catalog.importing.geography import region_in
from router_service.catalog.importing.kinds import modalities, refined
from router_service.catalog.importing.money import PER_MILLION_TOKENS, Money
from router_service.catalog.importing.owners import Owners
from router_service.catalog.importing.prices import Charges, token_prices
from router_service.catalog.importing.reading import JsonObject, UnreadableSource, lost_keys, read_object
from router_service.catalog.importing.report import LeftOut, Report
from router_service.catalog.importing.row import Row
from router_service.domain import words

_WHAT = "models.dev's api.json"
_OTHER_CHARGES = ("input_audio", "output_audio")
_TIERS = ("tiers", "context_over_200k")


def import_models_dev(source: bytes, *, owners: Owners, rate: Decimal, currency: str) -> Imported:
    """The endpoints of models.dev's file, all of kind `hosted` and status `up`, with an account of every row.

    `source` is the JSON text, or gzip of it; `rate` is what a US dollar costs in `currency`. Raises
    UnreadableSource where the file is not models.dev's at all, and InvalidValue for a rate or a
    currency that makes no sense.
    """
    money = Money(rate, currency)
    providers = read_object(source, what=_WHAT)
    if not any(isinstance(entry, dict) and "models" in entry for entry in providers.values()):
        raise UnreadableSource(f"no provider has models: give {_WHAT}, or import it as what it is")
    report = Report()
    drafts: list[Draft] = []
    for provider, model_id, entry in _rows(providers, report):
        row_id = f"{provider}/{model_id}"
        try:
            drafts.append(_draft(row_id, provider, model_id, entry, money))
        except LeftOut as reason:
            report.leave_out(reason.reason, row_id)
    return assemble(drafts, owners=owners, currency=currency, report=report)


def _rows(providers: JsonObject, report: Report) -> Iterator[tuple[str, str, object]]:
    """Every (provider, model id, entry). A provider that holds no readable models counts as one row left out."""
    for provider in lost_keys(providers):
        report.rows_read += 1
        report.leave_out("duplicate_id", provider)
    for provider, entry in providers.items():
        models = entry.get("models") if isinstance(entry, dict) else None
        if not isinstance(models, dict):
            report.rows_read += 1
            report.leave_out("malformed", provider)
            continue
        for model_id in lost_keys(models):
            report.rows_read += 1
            report.leave_out("duplicate_id", f"{provider}/{model_id}")
        for model_id, model in models.items():
            report.rows_read += 1
            yield provider, model_id, model


def _draft(row_id: str, provider: str, model_id: str, entry: object, money: Money) -> Draft:
    if not isinstance(entry, dict):
        raise LeftOut("malformed")
    if not provider.strip():
        raise LeftOut("no_provider")
    row = Row(entry)
    name = named(row_id, model_id)
    given, limit = row.part("modalities"), row.part("limit")
    inputs, outputs = given.texts("input"), given.texts("output")
    model_type = refined(inputs, outputs, name.stem, row.text("family"))
    if model_type != words.TEXT and words.TEXT in (outputs or ()):
        row.changes.add("type_from_id")
    if row.text("status") == "deprecated":
        row.changes.add("deprecated_without_date")
    facts: dict[str, object] = {
        "model_version": name.version,
        "model_type": model_type,
        "input_modalities": modalities(inputs or (), row.changes),
        "context_window": limit.tokens("context"),
        "max_output_tokens": limit.tokens("output"),
        **token_prices(_charges(row), model_type, money, PER_MILLION_TOKENS, row.changes),
        "tags": ["reasoning"] if row.flag("reasoning") else None,
        "tools": row.flag("tool_call"),
        "structured_output": "json-schema" if row.flag("structured_output") else None,
    }
    if (limit.tokens("input") or limit.tokens("context") or 0) < (limit.tokens("context") or 0):
        row.changes.add("input_limit_ignored")
    region = region_in(model_id, provider)
    return Draft(row_id, provider, name, (region,) if region else (), documented(facts), row.changes)


def _charges(row: Row) -> Charges:
    cost = row.part("cost")
    if any(cost.values.get(name) for name in _TIERS):
        row.changes.add("tier_ignored")
    charged = set(cost.charges())
    return Charges(
        cost.number("input"),
        cost.number("output"),
        reasoning=cost.number("reasoning"),
        other=not charged.isdisjoint(_OTHER_CHARGES),
    )


__all__ = ["import_models_dev"]
