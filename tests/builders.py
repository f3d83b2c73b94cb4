"""Short ways to say endpoints, policies and requests in tests, in the raw form of files and of the wire."""

from __future__ import annotations

from typing import Any

from router_service.domain.decision import Decision, Explanation, Refusal
from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import Policy
from router_service.domain.request import RouteRequest
from router_service.engine.decide import decide
from router_service.engine.explain import explain
from router_service.engine.index import Index

NOW = 1_800_000_000_000
_CLASSES: dict[str, Any] = {
    "eu-owned": {"sovereignty": "eu-owned", "country": "FR", "region": "fr-par"},
    "eu": {"sovereignty": "eu-hosted", "country": "DE", "region": "eu-central-1"},
    "us": {"sovereignty": "global", "country": "US", "region": "us-east-1"},
    "unknown": {},
}


def raw_endpoint(endpoint_id: str, where: str = "eu", **facts: Any) -> dict[str, Any]:
    """A text endpoint that is up; its model is what stands before the @ of its id."""
    base = {
        "endpoint_id": endpoint_id,
        "model": endpoint_id.split("@", maxsplit=1)[0],
        "provider": endpoint_id.partition("@")[2] or "p1",
        "kind": "hosted",
        "status": "up",
        "model_type": "text",
        "input_modalities": ["text"],
    }
    return base | _CLASSES[where] | facts


def endpoint(endpoint_id: str, where: str = "eu", **facts: Any) -> Endpoint:
    """The same as a value."""
    return Endpoint.read(raw_endpoint(endpoint_id, where, **facts))


def decided(
    endpoints: list[Endpoint], policy: dict[str, Any] | None = None, now: int = NOW, **request: Any
) -> Decision | Refusal:
    """What the engine decides; the policy is the EU one with these differences."""
    return decide(Index(endpoints), _policy(policy), RouteRequest.read(request), now)


def explained(
    endpoints: list[Endpoint], policy: dict[str, Any] | None = None, now: int = NOW, **request: Any
) -> Explanation:
    """The same, told in full."""
    return explain(Index(endpoints), _policy(policy), RouteRequest.read(request), now)


def ids(result: Decision | Refusal) -> list[str]:
    """The failover list; a refusal has none."""
    return [one.endpoint_id for one in result.candidates] if isinstance(result, Decision) else []


def code(result: Decision | Refusal) -> str:
    """The refusal's literal name; empty for a decision."""
    return result.code if isinstance(result, Refusal) else ""


def reasons_of(explanation: Explanation, endpoint_id: str) -> list[str]:
    """Every reason for which one endpoint was passed over, the first first."""
    (one,) = (one for one in explanation.endpoints if one.endpoint.endpoint_id == endpoint_id)
    return [by.reason for by in one.refused_by]


def _policy(differences: dict[str, Any] | None) -> Policy:
    return Policy.read({"policy_id": "eu"} | (differences or {}))
