"""What a decision stands on: one index, one policy, one version of the catalogue, and the request as it is decided."""

from __future__ import annotations

import msgspec

from router_service.asks import Ask, Inline, InvalidRequest, NoDefaultPolicy, PolicyNotFound, WorkloadNotFound
from router_service.catalog.snapshot import Snapshot
from router_service.domain.caller import Caller
from router_service.domain.policy import Policy
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.request import RouteRequest
from router_service.domain.workload import Joined
from router_service.engine.index import Index


class Ground(msgspec.Struct, frozen=True):
    """What one decision stands on; `version` is empty where the request brought its own catalogue.

    `snapshot` is what `index` and `policy` are of. Where the request names a workload, `request`
    is what the two became, as `joined` tells.
    """

    index: Index
    policy: Policy
    version: str
    request: RouteRequest
    joined: Joined | None = None
    snapshot: Snapshot | None = None


def served_ground(caller: Caller, ask: Ask, snapshot: Snapshot) -> Ground:
    """The policy and the workload that are asked for, of a snapshot. Raises Unanswerable.

    What is not the caller's is not found, as if it were not there.
    """
    named = ask.policy_id or caller.default_policy
    policy_id = named or snapshot.content.default_policy
    policy = snapshot.policies.get(policy_id) if caller.may_use(policy_id) else None
    if policy is None:
        if not named:
            raise NoDefaultPolicy
        raise PolicyNotFound(policy_id)
    if ask.named is None:
        return Ground(snapshot.index, policy, snapshot.version, ask.request, None, snapshot)
    if not caller.may_name(ask.named.workload):
        raise WorkloadNotFound(ask.named.workload)
    try:
        joined = snapshot.workloads.joined(ask.named.workload, ask.named.own, snapshot.index)
    except InvalidValue as invalid:
        raise InvalidRequest(problem.under("request") for problem in invalid.problems) from None
    if joined is None:
        raise WorkloadNotFound(ask.named.workload)
    return Ground(snapshot.index, policy, snapshot.version, joined.request, joined, snapshot)


def inline_ground(ask: Ask, inline: Inline) -> Ground:
    """The candidates and the policy that a request brings, and nothing of the catalogue. Raises Unanswerable."""
    problems = []
    if ask.policy_id:
        problems.append(Problem("policy_id", "an inline policy excludes a served one", "leave out policy_id or inline"))
    if ask.named is not None:
        problems.append(
            Problem("workload", "an inline policy excludes a served workload", "leave out workload or inline")
        )
    if inline.policy.daily_budget is not None:
        problems.append(Problem("inline.policy.daily_budget", "an inline policy has no budget", "name a served policy"))
    if problems:
        raise InvalidRequest(problems)
    try:
        return Ground(Index(inline.candidates), inline.policy, "", ask.request)
    except InvalidValue as invalid:
        raise InvalidRequest(problem.under("inline.candidates") for problem in invalid.problems) from None
