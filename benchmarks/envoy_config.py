"""An Envoy with three listeners that differ in one thing: who is asked before a request goes on, if anybody."""

from __future__ import annotations

import json
from typing import Any

from router_service.edge.choices import Choices, Place
from router_service.edge.clusters import typed
from router_service.edge.envoy import configuration
from router_service.edge.upstreams import Upstreams

NONE, TRIVIAL, SERVICE = "none", "trivial", "service"
_AUTHZ = "envoy.filters.http.ext_authz"


def three_listeners(upstreams: Upstreams, service: str, trivial: str, *, reports: bool) -> str:
    """The printed configuration thrice, in JSON: without the call-out, with the trivial answer, and with the service.

    All endpoints are this Envoy itself, which answers at once. Without `reports` no access log is sent.
    """
    made = {name: _configured(upstreams, place) for name, place in ((TRIVIAL, trivial), (SERVICE, service))}
    config = made[SERVICE]
    static = config["static_resources"]
    static["listeners"] = [_plain(made[TRIVIAL]), *(_asking(made[name], name, reports) for name in (TRIVIAL, SERVICE))]
    static["listeners"].append(_backend())
    (asked,) = (one for one in made[TRIVIAL]["static_resources"]["clusters"] if one["name"] == "(router-service)")
    del asked["health_checks"]
    asked["name"] = asked["load_assignment"]["cluster_name"] = TRIVIAL
    static["clusters"] = [*(_local(one) for one in static["clusters"]), asked]
    return json.dumps(config)


def _configured(upstreams: Upstreams, place: str) -> dict[str, Any]:
    host, _, port = place.rpartition(":")
    choices = Choices(
        listen=Place("127.0.0.1", 0),
        service=Place(host, int(port)),
        admin=Place("127.0.0.1", 0),
        access_log="/dev/null",
        open_hosts=frozenset(upstreams.hosts),
    )
    return configuration(upstreams, choices)


def _http(config: dict[str, Any]) -> dict[str, Any]:
    listener = config["static_resources"]["listeners"][0]
    http: dict[str, Any] = listener["filter_chains"][0]["filters"][0]["typed_config"]
    return http


def _asking(config: dict[str, Any], name: str, reports: bool) -> dict[str, Any]:
    http, listener = _http(config), config["static_resources"]["listeners"][0]
    if not (reports and name == SERVICE):
        http["access_log"] = http["access_log"][:1]
        http["http_filters"][-1]["typed_config"].pop("upstream_log", None)
    if name == TRIVIAL:
        (asking,) = (one for one in http["http_filters"] if one["name"] == _AUTHZ)
        asking["typed_config"]["grpc_service"]["envoy_grpc"]["cluster_name"] = TRIVIAL
    return {**listener, "name": name}


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """The same without the call-out, so that its route names its cluster."""
    listener = json.loads(json.dumps(config["static_resources"]["listeners"][0]))
    http = listener["filter_chains"][0]["filters"][0]["typed_config"]
    http["http_filters"] = [one for one in http["http_filters"] if one["name"] != _AUTHZ]
    http["access_log"] = http["access_log"][:1]
    http["http_filters"][-1]["typed_config"].pop("upstream_log", None)
    route = http["route_config"]["virtual_hosts"][0]["routes"][0]
    del route["typed_per_filter_config"][_AUTHZ]
    del route["route"]["inline_cluster_specifier_plugin"]
    del route["route"]["retry_policy"]["refresh_cluster_on_retry"]
    route["route"]["cluster"] = next(
        one["name"] for one in config["static_resources"]["clusters"] if not one["name"].startswith("(")
    )
    return {**listener, "name": NONE}


def _local(cluster: dict[str, Any]) -> dict[str, Any]:
    """An endpoint's cluster, in plain and at this Envoy's own backend; any other as it is."""
    if cluster["name"].startswith("("):
        return cluster
    address = {"pipe": {"path": "@router-benchmark-backend"}}
    made = {key: value for key, value in cluster.items() if key not in ("transport_socket", "dns_lookup_family")}
    made["type"] = "STATIC"
    endpoint = {"endpoint": {"address": address, "hostname": "backend"}}
    made["load_assignment"] = {"cluster_name": cluster["name"], "endpoints": [{"lb_endpoints": [endpoint]}]}
    (options,) = made["typed_extension_protocol_options"].values()
    options.pop("auto_config", None)
    options["explicit_http_config"] = {"http_protocol_options": {}}
    return made


def _backend() -> dict[str, Any]:
    answer = {"status": 200, "body": {"inline_string": '{"choices": []}'}}
    host = {"name": "backend", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "direct_response": answer}]}
    http = typed(
        "extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        stat_prefix="backend",
        route_config={"virtual_hosts": [host]},
        http_filters=[{"name": "router", "typed_config": typed("extensions.filters.http.router.v3.Router")}],
    )
    return {
        "name": "backend",
        "address": {"pipe": {"path": "@router-benchmark-backend"}},
        "filter_chains": [{"filters": [{"name": "http", "typed_config": http}]}],
    }
