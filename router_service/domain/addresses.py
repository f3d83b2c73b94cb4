"""Addresses: where an endpoint is called, as the base URL that OpenAI's SDKs take (docs/catalogue.md, Endpoints)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import ClassVar, NamedTuple

from router_service.domain.problems import Problem
from router_service.domain.readers import TEXT_MAX, Json, shown
from router_service.domain.text import trim

HTTP, HTTPS = "http", "https"
_PORTS = {HTTP: 80, HTTPS: 443}
_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = re.compile(rf"{_OCTET}(\.{_OCTET}){{3}}")
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_ALL_DIGITS = re.compile("[0-9.]+")
_URL = re.compile(
    r"(?P<scheme>[Hh][Tt][Tt][Pp][Ss]?)://(\[(?P<ipv6>[^]]*)\]|(?P<host>[^/:?#@[\]]+))(:(?P<port>[0-9]{1,5}))?(?P<path>/.*)?"
)
_PATH = re.compile("(/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)*")
_CURE = "write http:// or https://, a host, and where it is needed a port and a path: https://api.example.eu/v1"


class Address(NamedTuple):
    """An address in its parts.

    `host` is a name or an IP address, without brackets; `path` is empty, or begins with a / and does not end with one.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_ip(self) -> bool:
        """Whether the host is an IP address, so that no name needs to be resolved."""
        return ":" in self.host or _IPV4.fullmatch(self.host) is not None

    @property
    def authority(self) -> str:
        """`host`, with `:port` where that is not the scheme's own."""
        return self.host_and_port if self.port != _PORTS[self.scheme] else self._host

    @property
    def host_and_port(self) -> str:
        """`host:port`, the port in any case."""
        return f"{self._host}:{self.port}"

    @property
    def _host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def address_of(text: str) -> Address | None:
    """The parts of an address; None where it is none."""
    found = _URL.fullmatch(text)
    if found is None:
        return None
    scheme, path = found["scheme"].lower(), (found["path"] or "").rstrip("/")
    port = int(found["port"] or _PORTS[scheme])
    host = (found["ipv6"] or found["host"]).lower()
    if not 0 < port <= 65535 or not _PATH.fullmatch(path) or not _is_host(host, found["ipv6"] is not None):
        return None
    return Address(scheme, host, port, path)


def is_ipv6(host: str) -> bool:
    """Whether a host is an address of IPv6; none with a zone, which is one machine's own."""
    try:
        return IPv6Address(host).scope_id is None
    except ValueError:
        return False


def _is_host(host: str, bracketed: bool) -> bool:
    if bracketed:
        return is_ipv6(host)
    # What has the form of an IP address and is none would be looked up as a name.
    pattern = _IPV4 if _ALL_DIGITS.fullmatch(host) else _NAME
    return len(host) <= 253 and pattern.fullmatch(host) is not None


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """A base URL, in the canonical form: the host in lower case, the scheme's own port and a / at the end left out."""

    kind: ClassVar[str] = "text"

    def read(self, raw: object, place: str, problems: list[Problem]) -> str | None:
        text = trim(raw) if isinstance(raw, str) else ""
        address = address_of(text) if len(text) <= TEXT_MAX else None
        if address is None:
            problems.append(Problem(place, f"{shown(raw)} is no address", _CURE))
            return None
        return f"{address.scheme}://{address.authority}{address.path}"

    def schema(self) -> Json:
        return {"type": "string", "maxLength": TEXT_MAX, "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@ ]+(/[^?# ]*)?$"}
