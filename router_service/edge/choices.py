"""What an operator chooses for an Envoy that asks the service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

from router_service.domain.addresses import Address

ATTEMPT_S, DECISION_S = 60.0, 1.0
BODY_BYTES = 20 * 1024 * 1024
CREDENTIALS = "/etc/envoy/credentials"
CA = "/etc/ssl/certs/ca-certificates.crt"
AUTHORIZATION = "authorization"
CREDENTIAL_HEADERS: Mapping[str, str] = {"*.openai.azure.com": "api-key"}


class Place(NamedTuple):
    """Where something listens: a host and a port, or the path of a Unix socket."""

    host: str
    port: int
    path: str = ""

    @property
    def is_name(self) -> bool:
        """Whether it is a host by name, which is looked up."""
        return not self.path and not Address("http", self.host, self.port, "").is_ip


@dataclass(frozen=True, slots=True)
class Tls:
    """Files of Envoy's machine, in PEM: a certificate with its key, and the CAs of the other side; empty is none."""

    cert: str = ""
    key: str = ""
    ca: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """One configuration's. Paths are those of the machine that Envoy runs on.

    `policies` are those that clients may name, the first of them the route's own; none is the catalogue's default one.
    `credential_headers` are the headers of hosts, `*` allowed, whose credential goes elsewhere than in authorization;
    the first that fits a host holds.
    """

    listen: Place
    service: Place
    admin: Place | None = None
    tls: Tls | None = None
    service_tls: Tls | None = None
    ca: str = CA
    credentials: str = CREDENTIALS
    open_hosts: frozenset[str] = frozenset()
    credential_headers: Mapping[str, str] = field(default_factory=lambda: CREDENTIAL_HEADERS)
    policies: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    attempt_s: float = ATTEMPT_S
    decision_s: float = DECISION_S
    body_bytes: int = BODY_BYTES
    replay: bool = True
    access_log: str = "/dev/stdout"
    partial: bool = False

    def credential_header(self, host: str) -> str:
        """The header that takes the credential of a host."""
        found = (header for pattern, header in self.credential_headers.items() if fnmatchcase(host, pattern))
        return next(found, AUTHORIZATION)
