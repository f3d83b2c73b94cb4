"""Case: one request under one policy over one index at one instant, which every rule looks at."""

from __future__ import annotations

import msgspec

from router_service.domain.request import RouteRequest
from router_service.engine.entries import PolicySets
from router_service.engine.held import NOTHING, Held
from router_service.engine.index import Index


class Case(msgspec.Struct):
    """One request under one policy over one index at one instant: what every rule looks at."""

    index: Index
    policy: PolicySets
    request: RouteRequest
    now: int
    residency: str  # the effective one
    ceiling: int | None  # the lower of the policy's and the request's, in millionths
    needed_tokens: int  # input and output together; a count that is not given is 0 here
    held: Held


def make_case(
    index: Index, policy: PolicySets, request: RouteRequest, now: int, residency: str, held: Held = NOTHING
) -> Case:
    """A case with what several rules need."""
    ceiling, own = policy.policy.max_price, request.max_price
    if ceiling is None or (own is not None and own < ceiling):
        ceiling = own
    needed = (request.input_tokens or 0) + (request.output_tokens or 0)
    return Case(index, policy, request, now, residency, ceiling, needed, held)
