"""What a client is told of how its answer came about: the block `router`, and the same in x-router-* headers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from router_service_client import Attempt, Candidate, Decision, Refusal

_PRINTABLE = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")

Block = dict[str, Any]


def block(decision: Decision, candidate: Candidate | None, attempts: Iterable[Attempt]) -> Block:
    """Of a decision, the candidate that answered, where one did, and what was tried; what is not known is null."""
    chosen = candidate or Candidate()
    return {
        "trace_id": decision.trace_id,
        "model": chosen.model or None,
        "model_version": chosen.model_version or None,
        "provider": chosen.provider or None,
        "endpoint_id": chosen.endpoint_id or None,
        "region": chosen.region or None,
        "country": chosen.country or None,
        "sovereignty": chosen.sovereignty or None,
        "policy_id": decision.policy_id,
        "retention": decision.retention,
        "estimated_cost": chosen.estimated_cost if chosen.HasField("estimated_cost") else None,
        "reason": decision.sentence,
        "attempts": [_attempt(one) for one in attempts],
    }


def refusal_block(refusal: Refusal) -> Block:
    """Of a refusal: nothing was tried."""
    return {
        "trace_id": refusal.trace_id,
        "policy_id": refusal.policy_id,
        "retention": refusal.retention,
        "reason": refusal.message,
        "close_models": list(refusal.close_slugs),
        "attempts": [],
    }


def _attempt(attempt: Attempt) -> Mapping[str, Any]:
    return {
        "endpoint_id": attempt.endpoint_id,
        "failure_class": attempt.failure_class or None,
        "status_code": attempt.status_code if attempt.HasField("status_code") else None,
        "error_code": attempt.error_code or None,
        "latency_ms": attempt.latency_ms,
    }


def headers(told: Mapping[str, Any]) -> dict[str, str]:
    """A block as headers; `attempts` is their number. What is not ASCII is percent-encoded.

    x-request-id is the trace_id too, since SDKs show that one (`_request_id`).
    """
    known = {name: value for name, value in told.items() if value is not None and not isinstance(value, list)}
    attempts = {"attempts": str(len(told["attempts"]))} if told["attempts"] else {}
    written = {f"x-router-{name.replace('_', '-')}": _value(value) for name, value in {**known, **attempts}.items()}
    return {"x-request-id": _value(told["trace_id"]), **written}


def _value(value: object) -> str:
    return quote(format(value, ".12f").rstrip("0").rstrip(".") if isinstance(value, float) else str(value), _PRINTABLE)
