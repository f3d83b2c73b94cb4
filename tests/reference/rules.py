"""The filter: every row of decision.md §3's tables, in their order, each told in a detail."""

from collections.abc import Callable
from typing import NamedTuple

from .case import EU_CLASSES, SOVEREIGNTY_CLASSES, STRUCTURED_LEVELS, Endpoint
from .context import Context
from .costs import blended_price_times_4, cost_e12
from .regions import region_matches
from .text import entry_matches, fold, trim
from .time_budget import need_ms

# A row's test returns the detail of a refusal, or None where the endpoint passes.
Test = Callable[[Endpoint, Context], str | None]


class Row(NamedTuple):
    """One row of the tables: the rule's number, the literal reason, and its test."""

    rule: int
    reason: str
    test: Test


class Refused(NamedTuple):
    """One row that refuses an endpoint, and why."""

    rule: int
    reason: str
    detail: str


def refusals_of(endpoint: Endpoint, context: Context) -> list[Refused]:
    """Every row that refuses the endpoint, in the filter's order; the first gives its reason."""
    found = []
    for rule, reason, test in ROWS:
        detail = test(endpoint, context)
        if detail is not None:
            found.append(Refused(rule, reason, detail))
    return found


def is_retired(e: Endpoint, now: int) -> bool:
    """Whether the endpoint is past its time: an end that is now is past."""
    return e.retires_at is not None and e.retires_at <= now


def _kind(e: Endpoint, _: Context) -> str | None:
    return "kind catalog-only" if e.kind == "catalog-only" else None


def _status(e: Endpoint, c: Context) -> str | None:
    if e.status not in ("up", "degraded"):
        return f"status {e.status}"
    if is_retired(e, c.now):
        return f"retired at {e.retires_at}, now {c.now}"
    return None


def _sovereignty_by_policy(e: Endpoint, c: Context) -> str | None:
    listed = set(c.policy.residency)
    # eu-owned is inside eu-hosted; the undocumented class goes with `global` (§1).
    if "eu-hosted" in listed:
        listed.add("eu-owned")
    if "global" in listed:
        listed.add("")
    if e.sovereignty in listed:
        return None
    lists = ", ".join(word for word in SOVEREIGNTY_CLASSES if word in c.policy.residency)
    return f"class {e.sovereignty or 'undocumented'}, policy lists {lists}"


def _sovereignty_by_residency(e: Endpoint, c: Context) -> str | None:
    if c.residency == "any" or e.sovereignty == "eu-owned":
        return None
    if c.residency == "eu-hosted" and e.sovereignty in EU_CLASSES:
        return None
    return f"class {e.sovereignty or 'undocumented'}, residency {c.residency}"


def _outside(entries: list[str], e: Endpoint) -> str | None:
    if not entries or any(region_matches(entry, e) for entry in entries):
        return None
    return f"country {e.country or 'none'}, region {trim(e.raw.get('region')) or 'none'}"


def _region_by_policy(e: Endpoint, c: Context) -> str | None:
    return _outside(c.policy.regions, e)


def _region_by_request(e: Endpoint, c: Context) -> str | None:
    return _outside(c.request.regions, e)


def _text(e: Endpoint, _: Context) -> str | None:
    return None if e.model_type == "text" else f"type {e.model_type}"


def _provider_denied(e: Endpoint, c: Context) -> str | None:
    for entry in c.policy.provider_deny:
        if entry_matches(fold(entry), e.provider):
            return f'matched deny entry "{entry}"'
    return None


def _provider_not_allowed(e: Endpoint, c: Context) -> str | None:
    allow = c.policy.provider_allow
    if not allow or any(entry_matches(entry, e.provider) for entry in allow):
        return None
    return f"provider {trim(e.raw.get('provider'))} matches no allow entry"


def _model_denied(e: Endpoint, c: Context) -> str | None:
    for entry in c.model_deny:
        if e.model in entry.slugs:
            return f'matched deny entry "{entry.written}"'
    return None


def _model_not_allowed(e: Endpoint, c: Context) -> str | None:
    if not c.model_allow or any(e.model in entry.slugs for entry in c.model_allow):
        return None
    return f"model {e.model} matches no allow entry"


def _partner(e: Endpoint, c: Context) -> str | None:
    return "kind partner" if e.kind == "partner" and not c.policy.partner_endpoints else None


def _vision(e: Endpoint, c: Context) -> str | None:
    if "image" not in c.request.modalities or "image" in e.input_modalities:
        return None
    return f"takes {', '.join(e.input_modalities) or 'none'}"


def _context_window(e: Endpoint, c: Context) -> str | None:
    needed = (c.request.input_tokens or 0) + (c.request.output_tokens or 0)
    if e.context_window is None or e.context_window >= needed:
        return None
    return f"needs {needed} tokens, window {e.context_window}"


def _price_above(e: Endpoint, c: Context) -> str | None:
    blended = blended_price_times_4(e)
    if c.ceiling is None or blended is None or blended <= 4 * c.ceiling:
        return None
    return f"4 x blended {blended}, 4 x ceiling {4 * c.ceiling}"


def _price_undocumented(e: Endpoint, c: Context) -> str | None:
    if c.ceiling is None or blended_price_times_4(e) is not None:
        return None
    return f"ceiling {c.ceiling}"


def _modalities(e: Endpoint, c: Context) -> str | None:
    # Text is never tested, and image is rule 11's.
    wanted = [word for word in ("audio", "video", "file") if word in c.request.modalities]
    lacking = [word for word in wanted if word not in e.input_modalities]
    return f"lacks {', '.join(lacking)}" if lacking else None


def _tools(e: Endpoint, c: Context) -> str | None:
    return "no tools" if c.request.requires_tools and not e.tools else None


def _structured_output(e: Endpoint, c: Context) -> str | None:
    has, asked = e.structured_output, c.request.structured_output
    if STRUCTURED_LEVELS.index(has) >= STRUCTURED_LEVELS.index(asked):
        return None
    return f"level {has}, asked {asked}"


def _model_class(e: Endpoint, c: Context) -> str | None:
    asked = c.request.model_classes
    if not asked or any(word in e.model_classes for word in asked):
        return None
    return f"classes {', '.join(e.model_classes) or 'none'}"


def _output_limit(e: Endpoint, c: Context) -> str | None:
    needed, limit = c.request.output_tokens or 0, e.max_output_tokens
    return None if limit is None or limit >= needed else f"needs {needed} tokens, limit {limit}"


def _cost_above(e: Endpoint, c: Context) -> str | None:
    if c.request.max_cost is None:
        return None
    cost, limit = cost_e12(e, c.request), c.request.max_cost * 10**6
    return None if cost is None or cost <= limit else f"cost {cost}, limit {limit}"


def _cost_undocumented(e: Endpoint, c: Context) -> str | None:
    if c.request.max_cost is None or cost_e12(e, c.request) is not None:
        return None
    return f"limit {c.request.max_cost * 10**6}"


def _deadline(e: Endpoint, c: Context) -> str | None:
    if c.spendable is None:
        return None
    need = need_ms(e, c.request.expected_output_tokens)
    return None if need <= c.spendable else f"needs {need} ms, can spend {c.spendable}"


def _excluded(e: Endpoint, c: Context) -> str | None:
    return "excluded" if e.endpoint_id in c.request.exclude_endpoints else None


def _circuit(e: Endpoint, c: Context) -> str | None:
    if e.suppressed_until is None or c.now >= e.suppressed_until:
        return None
    return f"until {e.suppressed_until}, now {c.now}"


ROWS = (
    Row(1, "catalog_only", _kind),
    Row(2, "status_not_routable", _status),
    Row(3, "sovereignty_denied_by_policy", _sovereignty_by_policy),
    Row(3, "sovereignty_outside_residency", _sovereignty_by_residency),
    Row(4, "region_denied_by_policy", _region_by_policy),
    Row(4, "region_outside_residency", _region_by_request),
    Row(5, "not_a_text_model", _text),
    Row(6, "provider_denied", _provider_denied),
    Row(7, "provider_not_allowed", _provider_not_allowed),
    Row(8, "model_denied", _model_denied),
    Row(9, "model_not_allowed", _model_not_allowed),
    Row(10, "partner_not_enabled", _partner),
    Row(11, "no_vision", _vision),
    Row(12, "context_window_exceeded", _context_window),
    Row(13, "price_above_ceiling", _price_above),
    Row(13, "price_not_documented", _price_undocumented),
    Row(14, "modality_unsupported", _modalities),
    Row(15, "tools_unsupported", _tools),
    Row(16, "structured_output_unsupported", _structured_output),
    Row(17, "model_class_not_allowed", _model_class),
    Row(18, "output_limit_exceeded", _output_limit),
    Row(19, "cost_above_limit", _cost_above),
    Row(19, "cost_not_documented", _cost_undocumented),
    Row(20, "deadline_unreachable", _deadline),
    Row(21, "excluded_by_request", _excluded),
    Row(22, "circuit_open", _circuit),
)
REASONS = tuple(row.reason for row in ROWS)
