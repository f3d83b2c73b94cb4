"""The flags of `router-service envoy` as choices; what makes no sense becomes a problem, and all of them are told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from router_service.domain.addresses import address_of, is_ipv6
from router_service.domain.problems import Problem
from router_service.edge import choices as defaults
from router_service.edge.choices import Choices, Place, Tls
from router_service.server.listen import Address, AddressError
from router_service.wire.envoy.keys import PREFIX

_NOWHERE = Place("", 0)  # in the place of one that was refused
_FILES = ("ca", "credentials", "access_log", "tls_cert", "tls_key", "service_ca", "service_cert", "service_key")
_HEADER = re.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
# Headers that say something else of a request, or are taken off it after the credential was put in.
_NO_CREDENTIALS = frozenset(
    ("host", "content-length", "content-type", "transfer-encoding", "connection", "te", "upgrade")
)
_NO_PREFIXES = (PREFIX, "x-envoy-", "x-forwarded-")
_SECURITIES = ("plain:", "tls:", "mtls:")  # which other flags say here
_FORM = "HOST:PORT, such as 127.0.0.1:10000, or unix:/path"


def choices_of(options: Mapping[str, Any], found: list[Problem]) -> Choices:
    """What was chosen; what makes no sense is added to `found`, and something else stands in its place."""
    empty = (name for name in _FILES if options[name] is not None and not options[name].strip())
    found += (Problem(_flag(name), "it is empty", "write a path, or leave the flag out") for name in empty)
    tls = _pair("--tls", options["tls_cert"], options["tls_key"], "", found)
    service_tls = _pair(
        "--service", options["service_cert"], options["service_key"], options["service_ca"] or "", found
    )
    insecure, said = options["insecure"], _headers(options["credential_headers"], found)
    return Choices(
        listen=_listening("--listen", options["listen"], insecure or tls is not None, _LISTEN_CURE, found),
        service=_service(options["service"], service_tls, insecure, found),
        admin=None
        if options["envoy_admin"] is None
        else _listening("--envoy-admin", options["envoy_admin"], insecure, _ADMIN_CURE, found),
        tls=tls,
        service_tls=service_tls,
        ca=options["ca"],
        credentials=options["credentials"].rstrip("/") or "/",
        open_hosts=frozenset(options["open_hosts"]),
        # What is said goes before what is known: in their order, and where both name the same hosts.
        credential_headers={**said, **defaults.CREDENTIAL_HEADERS, **said},
        policies=tuple(dict.fromkeys(options["policies"])),
        workloads=tuple(dict.fromkeys(options["workloads"])),
        attempt_s=options["attempt_timeout"],
        decision_s=options["decision_timeout"],
        body_bytes=options["body_limit"],
        replay=options["replay"],
        access_log=options["access_log"],
        partial=options["partial"],
    )


_LISTEN_CURE = "give --tls-cert and --tls-key, listen on 127.0.0.1, or say --insecure"
_ADMIN_CURE = "listen on 127.0.0.1 or a Unix socket, or say --insecure"
_SERVICE_CURE = "give --service-ca, or say --insecure"


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _place(option: str, text: str, found: list[Problem]) -> Address | None:
    """A place as it is written: whether it is spoken to by TLS is said by other flags."""
    try:
        address = Address.parse(text)
    except AddressError:
        address = None
    if address is None or text.startswith(_SECURITIES) or not (address.path or _host_is_one(address)):
        found.append(Problem(option, f'"{text}" is no place', f"write {_FORM}"))
        return None
    return address


def _host_is_one(address: Address) -> bool:
    return is_ipv6(address.host) if ":" in address.host else address_of(f"http://{address.host}") is not None


def _listening(option: str, text: str, beyond: bool, cure: str, found: list[Problem]) -> Place:
    """Where Envoy itself listens; `beyond` is whether it may be reached from other machines."""
    address = _place(option, text, found)
    if address is None:
        return _NOWHERE
    place = _as_place(address)
    if place.is_name:
        found.append(
            Problem(option, f"Envoy listens on no name ({place.host})", "write an IP address: 127.0.0.1:10000")
        )
    elif not (address.is_local or beyond):
        found.append(Problem(option, f"plain HTTP at {text} shows everything to the network", cure))
    return place


def _service(text: str, tls: Tls | None, insecure: bool, found: list[Problem]) -> Place:
    address = _place("--service", text, found)
    if address is None:
        return _NOWHERE
    place = _as_place(address)
    if not place.path and not place.port:
        found.append(Problem("--service", "nobody is reached at port 0", "write the port that the service listens on"))
    if tls is not None and not place.is_name:
        cure = "write name:port, or no --service-ca"
        found.append(Problem("--service", "a certificate is checked by a name", cure))
    if tls is None and not (address.is_local or insecure):
        found.append(Problem("--service", f"plain gRPC to {text} shows every request to the network", _SERVICE_CURE))
    return place


def _as_place(address: Address) -> Place:
    return Place(address.host, address.port, "" if address.path is None else str(address.path))


def _pair(option: str, cert: str | None, key: str | None, ca: str, found: list[Problem]) -> Tls | None:
    """The files of one side's TLS; None where there is none."""
    if (cert is None) != (key is None):
        cure = f"give {option}-cert and {option}-key"
        found.append(Problem(option, "a certificate and its key go together", cure))
    if option == "--service" and cert is not None and not ca:
        found.append(Problem("--service-cert", "nothing says whom to trust", "give --service-ca too"))
    return Tls(cert or "", key or "", ca) if cert or ca else None


def _headers(texts: Iterable[str], found: list[Problem]) -> dict[str, str]:
    """The headers of hosts, by their patterns."""
    headers = {}
    for text in texts:
        host, _, header = (part.strip().lower() for part in text.partition("="))
        if not (host and header):
            problem = f'"{text}" is no pair', "write *.example.com=x-api-key"
        elif not _HEADER.fullmatch(header):
            problem = f'"{header}" is no name of a header', "use letters, digits and hyphens: x-api-key"
        elif header in _NO_CREDENTIALS or header.startswith(_NO_PREFIXES):
            problem = f"{header} carries no credential to a provider", "name the header that the provider reads"
        else:
            headers[host] = header
            continue
        found.append(Problem("--credential-header", *problem))
    return headers
