"""The listener of an Envoy configuration: what is read of a request, the call-out, the route, and what is logged."""

from __future__ import annotations

from importlib import resources
from typing import Any

from router_service.edge.choices import Choices, Place
from router_service.edge.clusters import REWRITE, Config, certificate, typed
from router_service.edge.replies import replies_of
from router_service.edge.upstreams import DENY, SERVICE, Upstreams
from router_service.wire.envoy.keys import (
    BODY_MODEL,
    BODY_NAMESPACE,
    BODY_UNREADABLE,
    CLUSTERS,
    POLICIES,
    POLICY,
    PREFIX,
    REQUEST_ID,
    WORKLOADS,
)
from router_service.wire.envoy.log import NAMESPACE
from router_service.wire.envoy.seen import LOGGED_HEADERS, RETRIABLE_STATUSES

CLIENT_PREFIX = "/v1/"
"""What the paths of clients begin with, which each endpoint's own takes the place of."""
AUTHZ = "envoy.filters.http.ext_authz"
# Whatever a client may have put its own credential into, and what providers take theirs in: no client's goes to one.
_CREDENTIALS = ("authorization", "proxy-authorization", "api-key", "x-api-key", "x-goog-api-key", "cookie")
# What a provider says of its own host, which a client would take for Envoy's; where it redirects to no decision lists.
_OF_PROVIDERS = ("location", "set-cookie", "alt-svc", "strict-transport-security")
# Without the last one no attempt is repeated of which a byte was sent and nothing came back.
_UNSENT = "connect-failure,refused-stream,reset-before-request,retriable-status-codes"
_LOST = ",reset,gateway-error"

# An instance that ends may refuse before its health was asked for again: another decides then. Where both did, the
# reservation of the one that nobody reports on is released.
_ASKED_AGAIN: Config = {
    "retry_on": "unavailable,cancelled,connect-failure,refused-stream,reset",
    "num_retries": 4,
    "retry_back_off": {"base_interval": "0.025s", "max_interval": "0.25s"},
    "retry_host_predicate": [
        {
            "name": "envoy.retry_host_predicates.previous_hosts",
            "typed_config": typed("extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"),
        }
    ],
    "host_selection_retry_max_attempts": 5,
}


def listener_of(upstreams: Upstreams, choices: Choices) -> Config:
    """The listener."""
    chain: Config = {
        "filters": [
            {"name": "envoy.filters.network.http_connection_manager", "typed_config": _http(upstreams, choices)}
        ]
    }
    if choices.tls is not None:
        kind = "extensions.transport_sockets.tls.v3.DownstreamTlsContext"
        context = {"tls_certificates": [certificate(choices.tls)], "alpn_protocols": ["h2", "http/1.1"]}
        chain["transport_socket"] = {
            "name": "envoy.transport_sockets.tls",
            "typed_config": typed(kind, common_tls_context=context),
        }
    return {"name": "edge", "address": address_at(choices.listen), "filter_chains": [chain]}


def address_at(place: Place) -> Config:
    """Where something of Envoy's listens."""
    if place.path:
        return {"pipe": {"path": place.path}}
    return {"socket_address": {"address": place.host, "port_value": place.port}}


def _http(upstreams: Upstreams, choices: Choices) -> Config:
    return typed(
        "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        stat_prefix="edge",
        # Every client is from outside, so that no header of Envoy's own counts that a client sends.
        use_remote_address=True,
        internal_address_config={"unix_sockets": False},
        skip_xff_append=True,
        # Attempts are joined to their request by its id, so no client may give two requests the same.
        early_header_mutation_extensions=[_own_ids()],
        normalize_path=True,
        merge_slashes=True,
        path_with_escaped_slashes_action="REJECT_REQUEST",
        access_log=[_lines(choices), _reports()],
        local_reply_config=replies_of(choices, CLIENT_PREFIX),
        route_config={"name": "llm", "virtual_hosts": [_virtual_host(upstreams, choices)]},
        http_filters=[
            {"name": "envoy.filters.http.buffer", "typed_config": _whole_body(choices)},
            {"name": "envoy.filters.http.json_to_metadata", "typed_config": _body()},
            {"name": AUTHZ, "typed_config": _call_out(choices)},
            {"name": "envoy.filters.http.router", "typed_config": _router()},
        ],
    )


def _own_ids() -> Config:
    """Takes a client's id off its request before Envoy gives it one, which leaves an id that is there as it is."""
    kind = "extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation"
    return {
        "name": "envoy.http.early_header_mutation.header_mutation",
        "typed_config": typed(kind, mutations=[{"remove": REQUEST_ID}]),
    }


def _whole_body(choices: Choices) -> Config:
    """A body that is too large to be kept for another attempt is 413; else it would lose its failover in silence."""
    return typed("extensions.filters.http.buffer.v3.Buffer", max_request_bytes=choices.body_bytes)


def _body() -> Config:
    """The model's name out of the body, which stays in Envoy; what is no JSON is told too."""
    rule = {
        "selectors": [{"key": "model"}],
        "on_present": {"metadata_namespace": BODY_NAMESPACE, "key": BODY_MODEL},
        "on_error": {
            "metadata_namespace": BODY_NAMESPACE,
            "key": BODY_UNREADABLE,
            "value": True,
            "preserve_existing_metadata_value": False,
        },
    }
    rules = {
        "rules": [rule],
        # Whatever a client calls its body, the provider reads it as JSON.
        "allow_empty_content_type": True,
        "allow_content_types_regex": {"regex": ".*"},
    }
    return typed("extensions.filters.http.json_to_metadata.v3.JsonToMetadata", request_rules=rules)


def _call_out(choices: Choices) -> Config:
    return typed(
        "extensions.filters.http.ext_authz.v3.ExtAuthz",
        transport_api_version="V3",
        grpc_service={
            "envoy_grpc": {"cluster_name": SERVICE},
            "timeout": _duration(choices.decision_s),
            "retry_policy": _ASKED_AGAIN,
        },
        clear_route_cache=True,  # the decision chooses the cluster
        failure_mode_allow=False,
        status_on_error={"code": "ServiceUnavailable"},
        metadata_context_namespaces=[BODY_NAMESPACE],
        allowed_headers={"patterns": [{"prefix": PREFIX}, {"exact": REQUEST_ID}]},
    )


def _router() -> Config:
    return typed("extensions.filters.http.router.v3.Router", suppress_envoy_headers=True, upstream_log=[_reports()])


def _virtual_host(upstreams: Upstreams, choices: Choices) -> Config:
    route: Config = {
        "match": {"prefix": CLIENT_PREFIX},
        "request_body_buffer_limit": choices.body_bytes,
        "request_headers_to_remove": list(dict.fromkeys((*_CREDENTIALS, *choices.credential_headers.values()))),
        "response_headers_to_remove": list(_OF_PROVIDERS),
        "typed_per_filter_config": {
            AUTHZ: typed(
                "extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute",
                check_settings={"context_extensions": _context(upstreams, choices)},
            ),
            REWRITE: typed("extensions.filters.http.lua.v3.LuaPerRoute", source_code={"inline_string": script()}),
        },
        "route": {
            "timeout": "0s",  # a stream may take long; attempts are bounded until their first byte
            "auto_host_rewrite": True,
            "inline_cluster_specifier_plugin": _specifier(),
            "retry_policy": _retries(choices),
        },
    }
    return {"name": "llm", "domains": ["*"], "include_attempt_count_in_response": True, "routes": [route]}


def _context(upstreams: Upstreams, choices: Choices) -> Config:
    """What the operator says of the route; commas part entries."""
    said = {
        POLICY: ",".join(choices.policies[:1]),
        POLICIES: ",".join(choices.policies[1:]),
        WORKLOADS: ",".join(choices.workloads),
        CLUSTERS: ",".join(one.name for one in upstreams.listed),
    }
    return {key: text for key, text in said.items() if text}


def script() -> str:
    """The script that writes an endpoint's path and model into an attempt, whose path is the client's at first."""
    text = resources.files(__package__).joinpath("rewrite.lua").read_text("utf-8")
    return f'local PREFIX, KEPT = "{CLIENT_PREFIX}", "{REWRITE}"\n{text}'


def _specifier() -> Config:
    kind = "extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier"
    groups = [{"name": DENY, "clusters": [{"cluster_name": DENY, "weight": 1}]}]
    return {
        "extension": {
            "name": "envoy.router.cluster_specifier_plugin.priority_group",
            "typed_config": typed(kind, override_metadata_namespace=NAMESPACE, priority_groups=groups),
        }
    }


def _retries(choices: Choices) -> Config:
    return {
        "retry_on": _UNSENT + (_LOST if choices.replay else ""),
        "retriable_status_codes": list(RETRIABLE_STATUSES),
        "num_retries": 2,  # each decision says how many of its own
        "per_try_timeout": _duration(choices.attempt_s),  # where a decision sets none
        "refresh_cluster_on_retry": True,
        "retry_back_off": {"base_interval": "0.001s", "max_interval": "0.002s"},
    }


def _duration(seconds: float) -> str:
    """Seconds as protobuf writes them, which knows no exponents."""
    return f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"


def _reports() -> Config:
    """The log that the service makes reports of: the same for attempts and requests, so that one stream has both."""
    kind = "extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig"
    common: Config = {
        "log_name": "router-service",
        "transport_api_version": "V3",
        "grpc_service": {"envoy_grpc": {"cluster_name": SERVICE}},
        "buffer_flush_interval": "0.2s",
        "buffer_size_bytes": 8192,
    }
    config: dict[str, Any] = typed(kind, common_config=common, additional_response_headers_to_log=list(LOGGED_HEADERS))
    return {"name": "envoy.access_loggers.http_grpc", "typed_config": config}


def _lines(choices: Choices) -> Config:
    line = {
        "time": "%START_TIME%",
        "method": "%REQ(:METHOD)%",
        "path": "%PATH(NQ:PATH)%",
        "status": "%RESPONSE_CODE%",
        "details": "%RESPONSE_CODE_DETAILS%",
        "flags": "%RESPONSE_FLAGS%",
        "attempts": "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
        "endpoint": "%UPSTREAM_CLUSTER_RAW%",
        "duration_ms": "%DURATION%",
        "request_id": "%REQ(X-REQUEST-ID)%",
        "trace_id": f"%DYNAMIC_METADATA({NAMESPACE}:trace_id)%",
    }
    kind = "extensions.access_loggers.file.v3.FileAccessLog"
    return {
        "name": "envoy.access_loggers.file",
        "typed_config": typed(kind, path=choices.access_log, log_format={"json_format": line}),
    }
