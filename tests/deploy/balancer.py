"""A real Envoy as a gRPC balancer before instances of the service, which it asks for their health itself."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Self

from tests.envoy.proxy import Envoy

SERVICE = "router_service.v1.RouterService"
PATIENCE_S = 60
_TYPE = "type.googleapis.com/envoy.extensions"


def configuration(ports: list[int], probed: list[int]) -> dict[str, Any]:
    """One listener of gRPC on a port of the kernel's choice; health is asked on the ports `probed`.

    A call goes to one instance, once: nothing is tried again, so that what an instance loses is seen.
    """
    endpoints = [
        {
            "endpoint": {
                "address": {"socket_address": {"address": "127.0.0.1", "port_value": port}},
                "health_check_config": {"port_value": probe} if probe != port else {},
            }
        }
        for port, probe in zip(ports, probed, strict=True)
    ]
    cluster = {
        "name": "router",
        "type": "STATIC",
        "connect_timeout": "5s",
        "load_assignment": {"cluster_name": "router", "endpoints": [{"lb_endpoints": endpoints}]},
        "common_lb_config": {"healthy_panic_threshold": {"value": 0}},  # or NOT_SERVING would be passed over
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": f"{_TYPE}.upstreams.http.v3.HttpProtocolOptions",
                "explicit_http_config": {"http2_protocol_options": {}},
            }
        },
        "health_checks": [
            {
                "timeout": "5s",
                "interval": "0.2s",
                "no_traffic_interval": "0.2s",
                "unhealthy_interval": "0.2s",
                "unhealthy_threshold": 2,
                "healthy_threshold": 1,
                "grpc_health_check": {"service_name": SERVICE},
            }
        ],
    }
    manager = {
        "@type": f"{_TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "in",
        "route_config": {
            "virtual_hosts": [
                {
                    "name": "all",
                    "domains": ["*"],
                    "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "router", "timeout": "0s"}}],
                }
            ]
        },
        "http_filters": [
            {
                "name": "envoy.filters.http.router",
                "typed_config": {"@type": f"{_TYPE}.filters.http.router.v3.Router"},
            }
        ],
    }
    listener = {
        "name": "in",
        "address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}},
        "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}],
    }
    return {
        "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}},
        "static_resources": {"listeners": [listener], "clusters": [cluster]},
    }


class Balancer(Envoy):
    """Envoy before instances on these ports; `target` is where clients call."""

    def __init__(self, folder: Path, ports: list[int], probed: list[int] | None = None) -> None:
        super().__init__(json.dumps(configuration(ports, probed or ports)), folder)
        self.target = f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def healthy(self) -> set[int]:
        """The ports of the instances that it calls."""
        (cluster,) = json.loads(self.admin("/clusters?format=json"))["cluster_statuses"]
        return {
            host["address"]["socket_address"]["port_value"]
            for host in cluster["host_statuses"]
            if not host.get("health_status", {}).get("failed_active_health_check")
        }

    def wait_for(self, ports: set[int]) -> None:
        """Until it calls these instances and no others."""
        deadline = time.monotonic() + PATIENCE_S
        while (healthy := self.healthy()) != ports:
            assert time.monotonic() < deadline, f"calls {healthy}, not {ports}"
            time.sleep(0.02)
