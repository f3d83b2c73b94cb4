"""Clusters of an Envoy configuration: one for each endpoint, one for the service, and an empty one that denies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from router_service.domain.addresses import HTTPS, Address
from router_service.edge.choices import Choices, Place, Tls
from router_service.edge.upstreams import DENY, SERVICE, Upstream, Upstreams, credential_of
from router_service.wire.envoy.keys import PREFIX

Config = dict[str, Any]
TYPE = "type.googleapis.com/envoy."
UPSTREAM_PATH, UPSTREAM_MODEL = f"{PREFIX}upstream-path", f"{PREFIX}upstream-model"
REWRITE = "router_service.rewrite"
"""The name of the filter that writes path and model, and of its script in the route."""
HEALTH_SERVICE = "envoy.service.auth.v3.Authorization"
_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
# What a provider need not know of whoever asks; some of it Envoy adds itself.
_PRIVATE = (PREFIX, "x-forwarded-", "x-envoy-")
_CONNECT_S = "2s"
# Envoy's own are 3 retries and 1,024 of the others: the fourth request that fails over at the same time would not, and
# one beyond 1,024 that wait for an answer of the same endpoint would not even be sent.
_AT_ONCE = dict.fromkeys(("max_connections", "max_pending_requests", "max_requests", "max_retries"), 100_000)


def typed(kind: str, **fields: Any) -> Config:
    """A message of one of Envoy's types, as configurations hold it."""
    return {"@type": TYPE + kind, **fields}


def clusters_of(upstreams: Upstreams, choices: Choices) -> Iterator[Config]:
    """All clusters: the service's first, then those of endpoints."""
    yield _service(choices)
    # Where a request goes that has no decision: nowhere, and never to an arbitrary provider.
    yield {"name": DENY, "type": "STATIC", "connect_timeout": "1s", "load_assignment": {"cluster_name": DENY}}
    for one in upstreams.listed:
        yield _endpoint(one, choices)


def _service(choices: Choices) -> Config:
    cluster = _at(SERVICE, choices.service) | {
        "circuit_breakers": {"thresholds": [dict(_AT_ONCE)]},
        # Without it a service that says NOT_SERVING would be asked all the same as soon as all of them say so.
        "common_lb_config": {"healthy_panic_threshold": {"value": 0}},
        "typed_extension_protocol_options": _protocol(
            {
                "explicit_http_config": {
                    "http2_protocol_options": {"connection_keepalive": {"interval": "30s", "timeout": "5s"}}
                }
            }
        ),
        "health_checks": [
            {
                "timeout": "3s",
                "interval": "1s",
                "no_traffic_interval": "1s",
                "unhealthy_threshold": 2,
                "healthy_threshold": 1,
                "grpc_health_check": {"service_name": HEALTH_SERVICE},
            }
        ],
    }
    return (
        cluster if choices.service_tls is None else cluster | {"transport_socket": _tls_to_service(choices.service_tls)}
    )


def _at(name: str, place: Place) -> Config:
    """A cluster at a place, without what else it is."""
    address: Config = {"socket_address": {"address": place.host, "port_value": place.port}}
    if place.path:
        address = {"pipe": {"path": place.path}}
    endpoint = {"endpoint": {"address": address} | ({"hostname": place.host} if place.is_name else {})}
    kind: Config = {"type": "STATIC"}
    if place.is_name:
        kind = {"type": "STRICT_DNS", "dns_lookup_family": "V4_PREFERRED"}
    return {
        "name": name,
        **kind,
        "connect_timeout": _CONNECT_S,
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]},
    }


def _protocol(options: Config) -> Config:
    return {_OPTIONS: typed("extensions.upstreams.http.v3.HttpProtocolOptions", **options)}


def _tls_to_service(tls: Tls) -> Config:
    context: Config = {"validation_context": {"trusted_ca": {"filename": tls.ca}}, "alpn_protocols": ["h2"]}
    if tls.cert:
        context["tls_certificates"] = [certificate(tls)]
    return _upstream_tls(context)


def certificate(tls: Tls) -> Config:
    """A certificate and its key, by their files."""
    return {"certificate_chain": {"filename": tls.cert}, "private_key": {"filename": tls.key}}


def _upstream_tls(context: Config) -> Config:
    """TLS to the name of the endpoint's own host, whose certificate must have that name."""
    kind = "extensions.transport_sockets.tls.v3.UpstreamTlsContext"
    return {
        "name": "envoy.transport_sockets.tls",
        "typed_config": typed(kind, auto_host_sni=True, auto_sni_san_validation=True, common_tls_context=context),
    }


def _endpoint(one: Upstream, choices: Choices) -> Config:
    address = one.address
    place = {"socket_address": {"address": address.host, "port_value": address.port}}
    endpoint = {"hostname": address.authority if address.is_ip else address.host, "address": place}
    secure = address.scheme == HTTPS
    cluster: Config = {
        "name": one.name,
        "type": "STATIC" if address.is_ip else "LOGICAL_DNS",
        "connect_timeout": _CONNECT_S,
        "circuit_breakers": {"thresholds": [dict(_AT_ONCE)]},
        "load_assignment": {"cluster_name": one.name, "endpoints": [{"lb_endpoints": [{"endpoint": endpoint}]}]},
        "typed_extension_protocol_options": _protocol(
            {
                # By ALPN where there is TLS: HTTP/2 with those that speak it.
                **({"auto_config": {}} if secure else {"explicit_http_config": {"http_protocol_options": {}}}),
                "http_filters": [*_credential(address, choices), _told(one), _REWRITES, _CODEC],
            }
        ),
    }
    if not address.is_ip:
        cluster["dns_lookup_family"] = "V4_PREFERRED"
    if secure:
        cluster["transport_socket"] = _upstream_tls({"validation_context": {"trusted_ca": {"filename": choices.ca}}})
    return cluster


def _credential(address: Address, choices: Choices) -> list[Config]:
    """What gives an attempt the credential of its own host and of no other, where it has one."""
    name = credential_of(address)
    if name in choices.open_hosts:
        return []
    file = {"path": f"{choices.credentials}/{name}.yaml", "watched_directory": {"path": choices.credentials}}
    secret = {"name": name, "sds_config": {"path_config_source": file, "resource_api_version": "V3"}}
    generic = typed(
        "extensions.http.injected_credentials.generic.v3.Generic",
        credential=secret,
        header=choices.credential_header(address.host),
    )
    injector = typed(
        "extensions.filters.http.credential_injector.v3.CredentialInjector",
        overwrite=True,
        # A credential that cannot be read is the endpoint's failure, and the next one's turn.
        allow_request_without_credential=True,
        credential={"name": "envoy.http.injected_credentials.generic", "typed_config": generic},
    )
    return [{"name": "envoy.filters.http.credential_injector", "typed_config": injector}]


def _told(one: Upstream) -> Config:
    """Takes off what is private, and tells the script the endpoint's path and model."""
    private = [{"remove_on_match": {"key_matcher": {"prefix": prefix}}} for prefix in _PRIVATE]
    own = [_set(UPSTREAM_PATH, f"{one.address.path}/"), _set(UPSTREAM_MODEL, one.model)]
    mutation = typed(
        "extensions.filters.http.header_mutation.v3.HeaderMutation", mutations={"request_mutations": private + own}
    )
    return {"name": "envoy.filters.http.header_mutation", "typed_config": mutation}


def _set(name: str, value: str) -> Config:
    header = {"key": name, "value": value.replace("%", "%%")}
    return {"append": {"header": header, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}}


_REWRITES = {
    "name": REWRITE,
    "typed_config": typed(
        "extensions.filters.http.lua.v3.Lua", default_source_code={"inline_string": "-- see the route"}
    ),
}
_CODEC = {
    "name": "envoy.filters.http.upstream_codec",
    "typed_config": typed("extensions.filters.http.upstream_codec.v3.UpstreamCodec"),
}
