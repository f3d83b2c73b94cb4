"""A real Envoy that asks by external processing and keeps a pool of addresses, in which a list of hosts is strict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

TYPE = "type.googleapis.com/envoy."
DESTINATION = "x-gateway-destination-endpoint"
NONE = {"request_body_mode": "NONE", "response_body_mode": "NONE"}
SUBSET_HEADER = "x-subset"


def typed(kind: str, **fields: Any) -> dict[str, Any]:
    return {"@type": TYPE + kind, **fields}


def configuration(
    service: str, ports: list[int], modes: Mapping[str, str] = NONE, context: Mapping[str, str] | None = None
) -> str:
    """Envoy with this pool; `context` is what the operator says of the route."""
    metadata = [{"key": f"x-router-context-{key}", "value": value} for key, value in (context or {}).items()]
    listener = {
        "name": "edge",
        "address": _address("127.0.0.1", 0),
        "filter_chains": [{"filters": [{"name": "http", "typed_config": _http(modes, metadata)}]}],
    }
    host, _, port = service.rpartition(":")
    clusters = [
        {
            "name": "service",
            "type": "STATIC",
            "connect_timeout": "1s",
            "typed_extension_protocol_options": {
                "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": typed(
                    "extensions.upstreams.http.v3.HttpProtocolOptions",
                    explicit_http_config={"http2_protocol_options": {}},
                )
            },
            "load_assignment": _assignment("service", [(host, int(port))]),
        },
        {
            "name": "pool",
            "type": "STATIC",
            "connect_timeout": "1s",
            "circuit_breakers": {"thresholds": [{"max_retries": 1000}]},
            "load_assignment": _assignment("pool", [("127.0.0.1", one) for one in ports]),
            "load_balancing_policy": {"policies": [_override()]},
        },
    ]
    return yaml.safe_dump(
        {
            "admin": {"address": _address("127.0.0.1", 0)},
            "static_resources": {"listeners": [listener], "clusters": clusters},
        }
    )


def _http(modes: Mapping[str, str], metadata: list[dict[str, str]]) -> dict[str, Any]:
    route = {
        "match": {"prefix": "/"},
        "request_body_buffer_limit": 20971520,
        "route": {
            "cluster": "pool",
            "timeout": "0s",
            "retry_policy": {
                "retry_on": "connect-failure,refused-stream,reset,gateway-error,retriable-status-codes",
                "retriable_status_codes": [429, 500, 529],
                "num_retries": 2,
                "retry_back_off": {"base_interval": "0.001s", "max_interval": "0.002s"},
            },
        },
    }
    host = {
        "name": "llm",
        "domains": ["*"],
        "include_attempt_count_in_response": True,
        "routes": [route],
    }
    return typed(
        "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        stat_prefix="edge",
        route_config={"virtual_hosts": [host]},
        http_filters=[
            {"name": "subset", "typed_config": _subset()},
            {"name": "envoy.filters.http.ext_proc", "typed_config": _processing(modes, metadata)},
            {"name": "router", "typed_config": typed("extensions.filters.http.router.v3.Router")},
        ],
    )


def _subset() -> dict[str, Any]:
    """Turns a header into the hint that a gateway gives; a test says by it which addresses may serve."""
    present = {"metadata_namespace": "envoy.lb.subset_hint", "key": f"{DESTINATION}-subset", "type": "STRING"}
    rule = {"header": SUBSET_HEADER, "on_header_present": present, "remove": True}
    return typed("extensions.filters.http.header_to_metadata.v3.Config", request_rules=[rule])


def _processing(modes: Mapping[str, str], metadata: list[dict[str, str]]) -> dict[str, Any]:
    mode = {"request_header_mode": "SEND", "response_header_mode": "SEND", **modes}
    if "FULL_DUPLEX_STREAMED" in modes.values():
        mode |= {"request_trailer_mode": "SEND", "response_trailer_mode": "SEND"}
    return typed(
        "extensions.filters.http.ext_proc.v3.ExternalProcessor",
        grpc_service={"envoy_grpc": {"cluster_name": "service"}, "initial_metadata": metadata},
        message_timeout="20s",
        failure_mode_allow=False,
        status_on_error={"code": "ServiceUnavailable"},
        processing_mode=mode,
        mutation_rules={"allow_envoy": True},
        metadata_options={
            "forwarding_namespaces": {"untyped": ["envoy.lb", "envoy.lb.subset_hint"]},
            "receiving_namespaces": {"untyped": ["envoy.lb"]},
        },
        response_attributes=["upstream.address", "upstream.request_attempt_count", "response.code_details"],
    )


def _override() -> dict[str, Any]:
    """Tries the listed hosts in order and no other: its fallback never has one."""
    robin = {
        "name": "envoy.load_balancing_policies.round_robin",
        "typed_config": typed("extensions.load_balancing_policies.round_robin.v3.RoundRobin"),
    }
    never = typed(
        "extensions.load_balancing_policies.subset.v3.Subset",
        fallback_policy="NO_FALLBACK",
        subset_selectors=[{"keys": ["never"]}],
        subset_lb_policy={"policies": [{"typed_extension_config": robin}]},
    )
    fallback = {"name": "envoy.load_balancing_policies.subset", "typed_config": never}
    key = {"key": "envoy.lb", "path": [{"key": DESTINATION}]}
    served = {"key": "envoy.lb", "path": [{"key": f"{DESTINATION}-served"}]}
    config = typed(
        "extensions.load_balancing_policies.override_host.v3.OverrideHost",
        override_host_sources=[{"metadata": key}],
        selected_host_key=served,
        fallback_policy={"policies": [{"typed_extension_config": fallback}]},
    )
    name = "envoy.load_balancing_policies.override_host"
    return {"typed_extension_config": {"name": name, "typed_config": config}}


def _address(host: str, port: int) -> dict[str, Any]:
    return {"socket_address": {"address": host, "port_value": port}}


def _assignment(name: str, places: list[tuple[str, int]]) -> dict[str, Any]:
    endpoints = [{"endpoint": {"address": _address(*place)}} for place in places]
    return {"cluster_name": name, "endpoints": [{"lb_endpoints": endpoints}]}
