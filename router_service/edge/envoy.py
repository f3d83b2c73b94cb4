"""A complete Envoy configuration as data, and as the YAML that `router-service envoy` prints."""

from __future__ import annotations

from typing import Any

import yaml

from router_service.edge.choices import Choices
from router_service.edge.clusters import Config, clusters_of
from router_service.edge.listener import address_at, listener_of
from router_service.edge.upstreams import Upstreams

LEAST_VERSION = "1.40"
_WIDTH = 4096  # no line is broken: ids and scripts stay whole


def configuration(upstreams: Upstreams, choices: Choices) -> Config:
    """The bootstrap configuration of an Envoy that asks the service and has these upstreams."""
    config: Config = {
        "node": {"id": "edge", "cluster": "edge"},
        "static_resources": {
            "listeners": [listener_of(upstreams, choices)],
            "clusters": list(clusters_of(upstreams, choices)),
        },
    }
    return config if choices.admin is None else {"admin": {"address": address_at(choices.admin)}, **config}


def written(upstreams: Upstreams, choices: Choices, version: str) -> str:
    """The configuration as YAML, with what must be there for it to serve; `version` is the catalogue's."""
    body = yaml.dump(
        configuration(upstreams, choices), Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True
    )
    return "\n".join([*_heading(upstreams, choices, version), "", body])


def _heading(upstreams: Upstreams, choices: Choices, version: str) -> list[str]:
    files = [name for name in upstreams.hosts if name not in choices.open_hosts]
    lines = [
        f"# Envoy {LEAST_VERSION} or newer, printed by `router-service envoy` for catalogue {version}.",
        "# Print it again when endpoints come or move: those that it does not have are not decided for.",
        "#",
        "# The service must be started with --envoy-authz.",
    ]
    if files:
        lines += [
            "#",
            f"# Credentials, a file each in {choices.credentials}, which Envoy reads again when one is moved in:",
            *(f"#   {name}.yaml   ({choices.credential_header(upstreams.hosts[name].host)})" for name in files),
            "# Each holds, with the whole value of its header:",
            '#   resources: [{"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret,',
            "#     name: NAME OF THE FILE WITHOUT .yaml, generic_secret: {secret: {inline_string: Bearer …}}}]",
        ]
    return lines


class _Dumper(yaml.SafeDumper):
    """Text of several lines as a block, and nothing by reference: each part can be read where it stands."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - as the library asks
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)
