"""The decision told in full, from the same tables: for every endpoint of the pool, why it is in or out.

explain(index, policy, request, now, held) -> Explanation     (never refuses: a refusal is its result)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator

from router_service.domain.decision import EndpointExplanation, Exclusion, Explanation
from router_service.domain.policy import Policy
from router_service.domain.request import RouteRequest
from router_service.engine.bits import positions
from router_service.engine.cost import estimated_cost
from router_service.engine.decide import Selection, select
from router_service.engine.entries import matches_of
from router_service.engine.filters import Rule, every_refusal
from router_service.engine.held import NOTHING, Held
from router_service.engine.index import Index
from router_service.engine.slices import made_of
from router_service.engine.time_budget import need_ms

_AT_ONCE = 8  # endpoints told of in one go, some tens of µs each


def explain(index: Index, policy: Policy, request: RouteRequest, now: int, held: Held = NOTHING) -> Explanation:
    """The very result of `decide`, and each endpoint of the pool with its rank and score or all its refusals."""
    return made_of(explain_in_slices(index, policy, request, now, held))


def explain_in_slices(
    index: Index, policy: Policy, request: RouteRequest, now: int, held: Held = NOTHING
) -> Generator[None, None, Explanation]:
    """The same bit by bit: a generator that returns the explanation, for whoever has other work to do between."""
    selection = select(index, policy, request, now, held)
    yield
    exclusions = _exclusions(selection)
    ranking = index.rankings.whole(selection.survivors, index.rankings.ask(request))
    ranks = {position: rank for rank, position in enumerate(ranking.order, start=1)}
    attempts = {position: attempt for attempt, position in enumerate(selection.attempts, start=1)}
    sets = selection.case.policy
    yield
    explanations = []
    for position in (*ranking.order, *positions(selection.pool & ~selection.survivors)):
        endpoint = index.endpoints[position]
        explanations.append(
            EndpointExplanation(
                endpoint=endpoint,
                refused_by=tuple(
                    Exclusion(rule.reason, rule.detail(selection.case, endpoint)) for rule in exclusions[position]
                ),
                matches=matches_of(index, sets, position),
                rank=ranks.get(position),
                score=ranking.standing(position).score if position in ranks else None,
                attempt=attempts.get(position),
                estimated_cost=estimated_cost(endpoint, request),
                need_ms=need_ms(endpoint, request.expected_output_tokens),
            )
        )
        if len(explanations) % _AT_ONCE == 0:
            yield
    return Explanation(selection.result, tuple(explanations))


def _exclusions(selection: Selection) -> defaultdict[int, list[Rule]]:
    """For each position of the pool, every rule that refuses it, in the filter's order."""
    found: defaultdict[int, list[Rule]] = defaultdict(list)
    for rule, refused in every_refusal(selection.case, selection.pool):
        for position in positions(refused):
            found[position].append(rule)
    return found
