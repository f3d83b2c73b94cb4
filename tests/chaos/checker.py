"""The checker: what is wrong with an answer, by the plain reference on the version of the catalogue that it names."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from router_service.v1.explanation_pb2 import Explanation
from router_service.v1.route_pb2 import Decision, Refusal
from router_service.v1.trace_pb2 import Trace
from tests.chaos.catalogues import Book, Version
from tests.chaos.forms import Result, expected_endpoints, expected_result, explanation_form, result_form, result_of
from tests.reference import oracle
from tests.reference.case import read_endpoint, read_policy, read_request
from tests.reference.compare import differences
from tests.reference.context import make_context
from tests.reference.costs import cost_e12
from tests.reference.model_id import read_names
from tests.reference.rules import refusals_of
from tests.reference.text import fold, limit_micros

Json = dict[str, Any]
HTTP_STATUS = {
    "model_not_found": 404,
    "hosted_unavailable": 409,
    "not_a_text_model": 400,
    "model_denied": 403,
    "no_endpoint_available": 503,
    "all_candidates_excluded": 409,
    "no_endpoint_for_policy": 409,
    "data_class_not_allowed": 403,
    "budget_exceeded": 429,
}
TRANSIENT = ("no_endpoint_available", "budget_exceeded")
EARLY = ("data_class_not_allowed", "budget_exceeded")
# What health may change about an endpoint, which the catalogue alone does not tell.
_OF_HEALTH = ("status_not_routable", "deadline_unreachable", "circuit_open")
_FIGURES: dict[str, Callable[[str], Any]] = {
    "status": str,
    "latency_ms": int,
    "error_rate": float,
    "suppressed_until": lambda text: round(datetime.fromisoformat(text).timestamp() * 1000),
}


class Checker:
    """Checks answers against the versions of a book."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def at_once(self, result: Result, policy_id: str, request: Json, data_class: str, now: int) -> list[str]:
        """What is wrong with an answer by itself: whatever is ill, every rule of the catalogue holds."""
        version = self._book.versions.get(result.catalog_version)
        if version is None:
            return [f"it names the version {result.catalog_version!r}, which was never good"]
        policy = version.policies.get(policy_id)
        if policy is None:
            return [f"version {version.version} has no policy {policy_id}"]
        found = [] if result.policy_id == policy_id else [f"it was made under {result.policy_id!r}"]
        if not result.trace_id:
            found.append("it has no trace_id")
        if result.considered < result.excluded or sum(result.reasons.values()) != result.excluded:
            found.append("its counts do not add up")
        if _is_denied(policy, data_class) != (isinstance(result, Refusal) and result.code == EARLY[0]):
            found.append(f"the data class {data_class!r} was not heeded")
        if isinstance(result, Refusal):
            return found + _wrong_refusal(result, policy)
        return found + _wrong_list(result, version, policy, request, now)

    def in_full(self, trace: Trace, told: Explanation, request: Json) -> list[str]:
        """What differs from the reference, given the figures that the explanation tells."""
        result = result_of(told)
        if isinstance(result, Refusal) and result.code in EARLY:
            return [] if not told.endpoints else ["a refusal before any endpoint was looked at tells of endpoints"]
        limit = trace.budget_max_cost if trace.HasField("budget_max_cost") else None
        return self.told(told, trace.policy_id, request, trace.decided_at.ToMilliseconds(), limit)

    def told(
        self, told: Explanation, policy_id: str, request: Json, now: int, budget_limit: float | None = None
    ) -> list[str]:
        """The same of an explanation at an instant (ms)."""
        result = result_of(told)
        version = self._book.versions.get(result.catalog_version)
        if version is None:
            return [f"it names the version {result.catalog_version!r}, which was never good"]
        answer = oracle.answer(
            {
                "catalog": overlaid(version, told),
                "policy": version.policies[policy_id],
                "request": limited(request, budget_limit),
                "now": now,
            }
        )
        wrong = differences(result_form(result), expected_result(answer["expected"]))
        wrong += differences(explanation_form(told), expected_endpoints(answer["explain"]))
        return [f"not what the reference says: {one}" for one in wrong]

    def reserves(self, result: Decision, request: Json) -> int:
        """What a decision holds of its policy's day, in 10⁻¹²."""
        version = self._book.versions[result.catalog_version]
        if request.get("input_tokens") is None or request.get("output_tokens") is None:
            return (limit_micros(version.policies[result.policy_id].get("default_reservation")) or 0) * 10**6
        asked = read_request(request)
        costs = [cost_e12(read_endpoint(version.endpoints[one.endpoint_id]), asked) for one in result.candidates]
        return max(cost or 0 for cost in costs)

    def budget_of(self, result: Result) -> int | None:
        """The daily budget of an answer's policy, in 10⁻¹²; None where it has none."""
        policy = self._book.versions[result.catalog_version].policies[result.policy_id]
        limit = limit_micros(policy.get("daily_budget"))
        return None if limit is None else limit * 10**6


def overlaid(version: Version, told: Explanation) -> list[Json]:
    """The endpoints of a version with the figures that an explanation tells over them."""
    figures = {one.endpoint_id: {f.name: _FIGURES[f.name](f.used) for f in one.figures} for one in told.endpoints}
    return [one | figures.get(endpoint_id, {}) for endpoint_id, one in version.endpoints.items()]


def limited(request: Json, limit: float | None) -> Json:
    """A request under the limit of cost that a budget set."""
    if limit is None:
        return request
    own = request.get("max_cost")
    return {**request, "max_cost": limit if own is None else min(limit, own)}


def _is_denied(policy: Json, data_class: str) -> bool:
    if not data_class:
        return bool(policy.get("require_data_class"))
    return bool(policy.get("data_classes")) and fold(data_class) not in policy["data_classes"]


def _wrong_refusal(refusal: Refusal, policy: Json) -> list[str]:
    if refusal.code not in HTTP_STATUS:
        return [f"there is no refusal {refusal.code!r}"]
    found = []
    if refusal.http_status != HTTP_STATUS[refusal.code]:
        found.append(f"{refusal.code} has the HTTP status {refusal.http_status}")
    if refusal.transient != (refusal.code in TRANSIENT):
        found.append(f"{refusal.code} is transient: {refusal.transient}")
    if refusal.code == "budget_exceeded" and policy.get("daily_budget") is None:
        found.append("it is refused for a budget that its policy does not have")
    if not refusal.message:
        found.append("it has no message")
    return found


def _wrong_list(result: Decision, version: Version, policy: Json, request: Json, now: int) -> list[str]:
    found = []
    listed = [one.endpoint_id for one in result.candidates]
    if not 1 <= len(listed) <= (request.get("max_attempts") or 3) or len(set(listed)) < len(listed):
        found.append(f"its list is {listed}")
    scores = [one.score for one in result.candidates]
    if scores != sorted(scores, reverse=True):
        found.append(f"it is not ranked: {scores}")
    endpoints = [read_endpoint(one) for one in version.endpoints.values()]
    by_id = {one.endpoint_id: one for one in endpoints}
    context = make_context(read_policy(policy), read_request(request), now, read_names(endpoints))
    for candidate in result.candidates:
        endpoint = by_id.get(candidate.endpoint_id)
        if endpoint is None:
            found.append(f"{candidate.endpoint_id} is not of version {version.version}")
            continue
        refused = [row.reason for row in refusals_of(endpoint, context) if row.reason not in _OF_HEALTH]
        found += [f"{candidate.endpoint_id} is listed in spite of {reason}" for reason in refused]
    return found
