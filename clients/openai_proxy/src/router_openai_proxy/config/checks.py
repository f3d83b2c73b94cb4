"""What a schema cannot say of a configuration: addresses that are none, credentials that are not there, and so on."""

from __future__ import annotations

import ipaddress
import re
import ssl
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from yarl import URL

from router_openai_proxy.config.marks import Located
from router_openai_proxy.config.marks import Path as Place
from router_openai_proxy.config.problems import Problem, written
from router_openai_proxy.keys import BadKeys, read_keys
from router_openai_proxy.secret import BadSecret, read_environment, read_secret

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*", re.ASCII)
_OWN_HEADERS = {
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
}
_CREDENTIAL_WORDS = {"authorization", "proxy-authorization", "api-key", "x-api-key", "cookie"}


class _Found(NamedTuple):
    """A problem before its line is known."""

    place: Place
    what: str


def problems_of_meaning(located: Located, folder: Path) -> Iterator[Problem]:
    """Every such problem; what does not have the right form is passed over, since it was told already."""
    top = located.value
    for check in _CHECKS:
        for place, what in check(top, folder):
            yield Problem(located.line(place), written(place), what)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def problem_of_url(text: str, *, plain: bool) -> str:
    """Why a base URL cannot be called; `plain` is whether it may be plain http beyond loopback. Empty where it can."""
    try:
        url = URL(text)
        host = url.host
    except ValueError as wrong:
        return f"is no URL ({wrong}); write it as https://api.example.com/v1"
    if url.scheme not in {"http", "https"} or not host:
        return "must begin with https:// or http:// and a host"
    if url.user is not None or url.password is not None:
        return "must hold no user and no password; name them by credential"
    if url.query_string or url.fragment:
        return "must end with its path: paths of the API are put behind it"
    if url.scheme == "http" and not is_loopback(host) and not plain:
        return "is plain http beyond loopback; use https, or say `plain: true`"
    return ""


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _backends(top: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    backends = top.get("backends")
    return [(n, _mapping(one)) for n, one in enumerate(backends)] if isinstance(backends, list) else []


def _listening(top: dict[str, Any], _folder: Path) -> Iterator[_Found]:
    host, _, port = _text(top.get("listen", "127.0.0.1:8080")).rpartition(":")
    if port.isdecimal() and int(port) > 65535:
        yield _Found(("listen",), "must have a port of at most 65535")
    if host and not is_loopback(host.strip("[]")) and "keys" not in top and top.get("open") is not True:
        yield _Found(("listen",), "is beyond loopback: give keys, or say `open: true` to let anybody in")


def _base_urls(top: dict[str, Any], _folder: Path) -> Iterator[_Found]:
    for number, backend in _backends(top):
        if not (text := _text(backend.get("base_url"))):
            continue
        place: Place = ("backends", number, "base_url")
        if what := problem_of_url(text, plain=backend.get("plain") is True):
            yield _Found(place, what)


def _endpoints(top: dict[str, Any], _folder: Path) -> Iterator[_Found]:
    named: dict[str, int] = {}
    for number, backend in _backends(top):
        endpoints = backend.get("endpoints")
        for place, one in enumerate(endpoints if isinstance(endpoints, list) else []):
            if not isinstance(one, str):
                continue
            if named.setdefault(one, number) != number:
                first = written(("backends", named[one]))
                yield _Found(
                    ("backends", number, "endpoints", place), f"{one} belongs to {first} already; name it once"
                )
        if "model" in backend and "models" in backend:
            yield _Found(("backends", number, "models"), "is of no use beside model; keep one of them")


def _headers(top: dict[str, Any], _folder: Path) -> Iterator[_Found]:
    for number, backend in _backends(top):
        place: Place = ("backends", number, "headers")
        for name, value in _mapping(backend.get("headers")).items():
            if not _HEADER_NAME.fullmatch(name):
                yield _Found((*place, name), "is no name of a header; use letters, digits and hyphens")
            elif name.lower() in _OWN_HEADERS:
                yield _Found((*place, name), "is set by the proxy itself; leave it out")
            elif name.lower() in _CREDENTIAL_WORDS:
                yield _Found((*place, name), "carries credentials; name them by credential")
            elif isinstance(value, str) and not _HEADER_VALUE.fullmatch(value):
                yield _Found((*place, name), "must be ASCII on one line")
        credential = _mapping(backend.get("credential"))
        header, prefix = _text(credential.get("header")), _text(credential.get("prefix"))
        if header and (not _HEADER_NAME.fullmatch(header) or header.lower() in _OWN_HEADERS):
            yield _Found(("backends", number, "credential", "header"), "is no header that can carry a credential")
        if not _HEADER_VALUE.fullmatch(prefix):
            yield _Found(("backends", number, "credential", "prefix"), "must be ASCII on one line")


def _credentials(top: dict[str, Any], folder: Path) -> Iterator[_Found]:
    readers: dict[str, Callable[[str], object]] = {
        "env": read_environment,
        "file": lambda name: read_secret(folder / name),
    }
    references: list[tuple[Place, Any]] = [(("service", "token"), _mapping(top.get("service")).get("token"))]
    references += [(("backends", number, "credential"), one.get("credential")) for number, one in _backends(top)]
    for place, reference in references:
        for key, reader in readers.items():
            if not (name := _text(_mapping(reference).get(key))):
                continue
            try:
                reader(name)
            except BadSecret as wrong:
                yield _Found((*place, key), str(wrong))


def _certificates(top: dict[str, Any], folder: Path) -> Iterator[_Found]:
    service, tls = _mapping(top.get("service")), _mapping(top.get("tls"))
    trusted: list[tuple[Place, Any]] = [(("service", "ca"), service.get("ca"))]
    trusted += [(("backends", number, "ca"), backend.get("ca")) for number, backend in _backends(top)]
    for place, name in trusted:
        if isinstance(name, str) and name:
            yield from _tried(place, partial(ssl.create_default_context, cafile=str(folder / name)))
    if _text(tls.get("certificate")) and _text(tls.get("key")):
        yield from _tried(("tls",), partial(_own, folder, tls))
    if "token" in service and not service.get("ca") and not _is_local(_text(service.get("target", "127.0.0.1:1"))):
        yield _Found(("service", "token"), "would go over a plain connection for everybody to read; give ca")
    if bool(service.get("certificate")) != bool(service.get("key")):
        yield _Found(("service",), "needs certificate and key together, or neither of them")
    elif service.get("certificate") and not service.get("ca"):
        yield _Found(("service", "certificate"), "is of use only on TLS; give ca too")
    elif _text(service.get("certificate")) and _text(service.get("key")):
        yield from _tried(("service", "certificate"), partial(_own, folder, service))


def _is_local(target: str) -> bool:
    return target.startswith("unix:") or is_loopback(target.rpartition(":")[0].strip("[]"))


def _own(folder: Path, files: dict[str, Any]) -> None:
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(folder / files["certificate"], folder / files["key"])


def _tried(place: Place, load: Callable[[], object]) -> Iterator[_Found]:
    try:
        load()
    except (OSError, ValueError) as wrong:  # SSLError is an OSError
        yield _Found(
            place, f"cannot be used: {getattr(wrong, 'strerror', None) or wrong}; give PEM files that belong together"
        )


def _callers(top: dict[str, Any], folder: Path) -> Iterator[_Found]:
    callers, name = _mapping(top.get("callers")), _text(top.get("keys"))
    if not name:
        if callers:
            yield _Found(("callers",), "needs keys: without them callers are not told apart")
        return
    try:
        known = set(read_keys(folder / name).values())
    except BadKeys as wrong:
        yield _Found(("keys",), str(wrong))
        return
    for caller in callers.keys() - known:
        there = ", ".join(sorted(known)[:10])
        yield _Found(("callers", caller), f"has no key in {name}; there are keys of {there}")


_CHECKS = (_listening, _base_urls, _endpoints, _headers, _credentials, _certificates, _callers)
