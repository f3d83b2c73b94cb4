"""The ordered table of rules: which endpoints each refuses, for which literal reason, and why in numbers or names.

The order is part of the contract (docs/decision.md, The filter): the first row that refuses an endpoint gives its
reason. What is not documented passes only where a rule's row says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from router_service.domain import reasons, words
from router_service.domain.endpoint import Endpoint
from router_service.domain.meanings import shown_instant
from router_service.domain.money import COST_UNIT, plain
from router_service.domain.request import RouteRequest
from router_service.engine.case import Case, make_case
from router_service.engine.cost import estimated_cost
from router_service.engine.entries import PolicySets
from router_service.engine.facts import blended_by_four
from router_service.engine.index import Index
from router_service.engine.time_budget import need_ms, spendable_ms


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: `refuses` gives the set of the index that it refuses, `detail` the numbers or names behind it."""

    reason: str
    refuses: Callable[[Case], int]
    detail: Callable[[Case, Endpoint], str]


def _retired_or_down(case: Case) -> int:
    return case.index.unroutable | case.index.retirements.at_most(case.now)


def _outside_regions(case: Case) -> int:
    asked = case.request.regions
    if not asked:
        return 0
    inside = 0
    for entry in asked:
        inside |= case.index.in_region(entry)
    return case.index.everything & ~inside


def _no_vision(case: Case) -> int:
    return case.index.lacking[words.IMAGE] if words.IMAGE in case.request.modalities else 0


def _above_ceiling(case: Case) -> int:
    ceiling = case.ceiling
    return 0 if ceiling is None else case.index.blended.above(4 * ceiling)


def _without_price(case: Case) -> int:
    return 0 if case.ceiling is None else case.index.everything & ~case.index.blended.documented


def _lacking_modality(case: Case) -> int:
    lacking = 0
    for modality in case.request.modalities:
        if modality in words.OTHER_MODALITIES:
            lacking |= case.index.lacking[modality]
    return lacking


def _outside_classes(case: Case) -> int:
    asked = case.request.model_classes
    if not asked:
        return 0
    inside = 0
    for model_class in asked:
        inside |= case.index.by_model_class.get(model_class, 0)
    return case.index.everything & ~inside


def _above_output_limit(case: Case) -> int:
    tokens = case.request.output_tokens
    return 0 if tokens is None else case.index.output_limits.below(tokens)


def _suppressed(case: Case) -> int:
    return case.index.suppressions.above(case.now) | case.held.bits


def _too_slow(case: Case) -> int:
    deadline = case.request.deadline_ms
    if deadline is None:
        return 0
    return case.index.needs.above(spendable_ms(deadline), case.request.expected_output_tokens)


def _where(endpoint: Endpoint) -> str:
    return f"country {endpoint.country or 'none'}, region {endpoint.region or 'none'}"


def _status(case: Case, endpoint: Endpoint) -> str:
    if endpoint.status not in words.ROUTABLE_STATUSES:
        return f"status {endpoint.status}"
    return f"retired at {shown_instant(endpoint.retires_at or 0)}, now {shown_instant(case.now)}"


def _denied_by(list_name: str) -> Callable[[Case, Endpoint], str]:
    entries = attrgetter(list_name)

    def detail(case: Case, endpoint: Endpoint) -> str:
        entry = entries(case.policy).first_match(case.index.position[endpoint.endpoint_id])
        return f'matched deny entry "{entry}"'

    return detail


def _blended(case: Case, endpoint: Endpoint) -> str:
    blended = plain(25 * (blended_by_four(endpoint) or 0) * 10**4, COST_UNIT)
    return f"blended price {blended}, ceiling {plain(case.ceiling or 0)}"


def _lacks(case: Case, endpoint: Endpoint) -> str:
    asked = [one for one in words.OTHER_MODALITIES if one in case.request.modalities]
    return f"lacks {', '.join(one for one in asked if one not in endpoint.input_modalities)}"


def _cost(case: Case, endpoint: Endpoint) -> str:
    cost = plain(estimated_cost(endpoint, case.request) or 0, COST_UNIT)
    return f"estimated cost {cost}, limit {plain(case.request.max_cost or 0)}"


def _need(case: Case, endpoint: Endpoint) -> str:
    need = need_ms(endpoint, case.request.expected_output_tokens)
    return f"needs {need} ms, can spend {spendable_ms(case.request.deadline_ms or 0)}"


def _circuit(case: Case, endpoint: Endpoint) -> str:
    until = case.held.or_suppressed(case.index.position[endpoint.endpoint_id], endpoint)
    return f"until {shown_instant(until or case.now)}, now {shown_instant(case.now)}"


RULES: tuple[Rule, ...] = (
    # 1 kind
    Rule(reasons.CATALOG_ONLY, lambda case: case.index.catalog_only, lambda case, one: f"kind {one.kind}"),
    # 2 status
    Rule(reasons.STATUS_NOT_ROUTABLE, _retired_or_down, _status),
    # 3 sovereignty
    Rule(
        reasons.SOVEREIGNTY_DENIED_BY_POLICY,
        lambda case: case.policy.refused_class,
        lambda case, one: (
            f"class {one.sovereignty or 'undocumented'}, policy lists {', '.join(case.policy.policy.residency)}"
        ),
    ),
    Rule(
        reasons.SOVEREIGNTY_OUTSIDE_RESIDENCY,
        lambda case: case.index.outside_residency[case.residency],
        lambda case, one: f"class {one.sovereignty or 'undocumented'}, residency {case.residency}",
    ),
    # 4 region
    Rule(
        reasons.REGION_DENIED_BY_POLICY,
        lambda case: case.policy.refused_region,
        lambda case, one: f"{_where(one)}; policy lists {', '.join(case.policy.policy.regions)}",
    ),
    Rule(
        reasons.REGION_OUTSIDE_RESIDENCY,
        _outside_regions,
        lambda case, one: f"{_where(one)}; request lists {', '.join(case.request.regions)}",
    ),
    # 5 text
    Rule(reasons.NOT_A_TEXT_MODEL, lambda case: case.index.not_text, lambda case, one: f"type {one.model_type}"),
    # 6 and 7 provider lists; an undocumented provider matches no entry
    Rule(reasons.PROVIDER_DENIED, lambda case: case.policy.provider_deny.matched, _denied_by("provider_deny")),
    Rule(
        reasons.PROVIDER_NOT_ALLOWED,
        lambda case: case.policy.provider_not_allowed,
        lambda case, one: f"provider {one.provider or 'undocumented'} matches no allow entry",
    ),
    # 8 and 9 model lists
    Rule(reasons.MODEL_DENIED, lambda case: case.policy.model_deny.matched, _denied_by("model_deny")),
    Rule(
        reasons.MODEL_NOT_ALLOWED,
        lambda case: case.policy.model_not_allowed,
        lambda case, one: f"model {one.model} matches no allow entry",
    ),
    # 10 partner
    Rule(
        reasons.PARTNER_NOT_ENABLED,
        lambda case: case.policy.partner_not_enabled,
        lambda case, one: "kind partner, policy's partner_endpoints is off",
    ),
    # 11 vision
    Rule(
        reasons.NO_VISION,
        _no_vision,
        lambda case, one: f"takes {', '.join(one.input_modalities) or 'nothing documented'}",
    ),
    # 12 context; an undocumented window passes
    Rule(
        reasons.CONTEXT_WINDOW_EXCEEDED,
        lambda case: case.index.windows.below(case.needed_tokens),
        lambda case, one: f"needs {case.needed_tokens} tokens, window {one.context_window}",
    ),
    # 13 price
    Rule(reasons.PRICE_ABOVE_CEILING, _above_ceiling, _blended),
    Rule(
        reasons.PRICE_NOT_DOCUMENTED,
        _without_price,
        lambda case, one: f"blended price not documented, ceiling {plain(case.ceiling or 0)}",
    ),
    # 14 modalities
    Rule(reasons.MODALITY_UNSUPPORTED, _lacking_modality, _lacks),
    # 15 tools
    Rule(
        reasons.TOOLS_UNSUPPORTED,
        lambda case: case.index.without_tools if case.request.requires_tools else 0,
        lambda case, one: "no tool calling documented",
    ),
    # 16 structured output
    Rule(
        reasons.STRUCTURED_OUTPUT_UNSUPPORTED,
        lambda case: case.index.below_level[case.request.structured_output],
        lambda case, one: f"level {one.structured_output}, asked {case.request.structured_output}",
    ),
    # 17 model class
    Rule(
        reasons.MODEL_CLASS_NOT_ALLOWED,
        _outside_classes,
        lambda case, one: f"classes {', '.join(one.model_classes) or 'none'}",
    ),
    # 18 output limit; an undocumented limit passes
    Rule(
        reasons.OUTPUT_LIMIT_EXCEEDED,
        _above_output_limit,
        lambda case, one: f"needs {case.request.output_tokens} tokens, limit {one.max_output_tokens}",
    ),
    # 19 cost
    Rule(reasons.COST_ABOVE_LIMIT, lambda case: case.index.costs.sets(case.request)[0], _cost),
    Rule(
        reasons.COST_NOT_DOCUMENTED,
        lambda case: case.index.costs.sets(case.request)[1],
        lambda case, one: f"estimated cost not documented, limit {plain(case.request.max_cost or 0)}",
    ),
    # 20 deadline; what is undocumented of the need passes or has its default
    Rule(reasons.DEADLINE_UNREACHABLE, _too_slow, _need),
    # 21 excluded
    Rule(
        reasons.EXCLUDED_BY_REQUEST,
        lambda case: case.index.at(case.request.exclude_endpoints) if case.request.exclude_endpoints else 0,
        lambda case, one: "named in exclude_endpoints",
    ),
    # 22 circuit
    Rule(
        reasons.CIRCUIT_OPEN,
        _suppressed,
        _circuit,
    ),
)


# What a policy admits whatever is asked: the rules 1 and 3 to 10, up to the row of partners, without the status.
ADMISSION: tuple[Rule, ...] = tuple(
    rule
    for rule in RULES[: next(i for i, rule in enumerate(RULES, start=1) if rule.reason == reasons.PARTNER_NOT_ENABLED)]
    if rule.reason != reasons.STATUS_NOT_ROUTABLE
)


def admitted(index: Index, policy: PolicySets) -> int:
    """The endpoints that the rules of `ADMISSION` admit for an empty request under the policy."""
    case = make_case(index, policy, RouteRequest(), 0, policy.policy.own_residency)
    left = index.everything
    for rule in ADMISSION:
        left &= ~rule.refuses(case)
    return left


def first_reasons(case: Case, pool: int) -> tuple[dict[str, int], int]:
    """The sets of the pool by the first rule that refuses them, in the filter's order, and what survives all."""
    refused: dict[str, int] = {}
    survivors = pool
    for rule in RULES:
        stopped = survivors & rule.refuses(case)
        if stopped:
            refused[rule.reason] = stopped
            survivors ^= stopped
            if not survivors:
                break
    return refused, survivors


def every_refusal(case: Case, pool: int) -> Iterator[tuple[Rule, int]]:
    """Each rule with all of the pool that it refuses, whatever the rules before it did."""
    for rule in RULES:
        yield rule, pool & rule.refuses(case)
