"""The names by which a request behind Envoy says what it needs: one table for headers and for a route's context.

A header is `x-router-` and the name; in a route's context the name stands alone (docs/envoy.md, What a request says).
"""

from __future__ import annotations

from collections.abc import Mapping

PREFIX = "x-router-"
TRACE_ID, REASON = "x-router-trace-id", "x-router-reason"
ANSWERS = frozenset((TRACE_ID, REASON))
"""Headers of the service's own answers; where a request has one, as behind another proxy, it says nothing."""
REQUEST_ID = "x-request-id"

FIELDS: Mapping[str, str] = {
    "model": "model",
    "task": "task",
    "language": "language",
    "residency": "residency",
    "regions": "regions",
    "input-tokens": "input_tokens",
    "output-tokens": "output_tokens",
    "modalities": "modalities",
    "tools": "requires_tools",
    "structured-output": "structured_output",
    "max-price": "max_price",
    "max-cost": "max_cost",
    "deadline-ms": "deadline_ms",
}
"""The field of a request that each name gives."""

POLICY, WORKLOAD, DATA_CLASS = "policy", "workload", "data-class"
BESIDE = (POLICY, WORKLOAD, DATA_CLASS)
"""What stands beside the request."""

POLICIES, WORKLOADS, CLUSTERS = "policies", "workloads", "clusters"
CONTEXT_ONLY = (POLICIES, WORKLOADS, CLUSTERS)
"""What only a route's context says: which policies and workloads a header may name, and which clusters Envoy has."""

HEADERS: Mapping[str, str] = {PREFIX + name: name for name in (*FIELDS, *BESIDE)}
CONTEXT_PREFIX = "x-router-context-"
"""What stands before a name in the gRPC metadata of external processing, which has no other route's context."""

BODY_NAMESPACE, BODY_MODEL, BODY_UNREADABLE = "llm.req", "model", "unreadable"
"""Where Envoy's json_to_metadata leaves the body's model, and that the body was not JSON."""
