"""Who answers for which endpoint: base URL, credential, what it calls the model; connections of its own."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import aiohttp
import msgspec

from router_openai_proxy.asking.chat import Chat
from router_openai_proxy.config.checks import problem_of_url
from router_openai_proxy.config.values import BackendSettings
from router_openai_proxy.secret import reader_of

COMPLETIONS = "/chat/completions"


class Listed(NamedTuple):
    """What the catalogue says of where an endpoint is called; empty where it says nothing."""

    address: str = ""
    upstream_model: str = ""


class Backend:
    """One backend. No header of a client ever reaches it, and no cookie of it is kept."""

    def __init__(self, settings: BackendSettings) -> None:
        """Raises BadSecret, where a credential is not there."""
        self.settings = settings
        self._secret = None if settings.credential is None else reader_of(settings.credential.secret)
        # It obeys no proxy of the environment and follows no redirect: both would carry the credential elsewhere.
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, keepalive_timeout=settings.keep_alive_ms / 1000, ssl=_trusting(settings.ca)
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    def headers(self) -> dict[str, str]:
        """Those of a request, with the credential as it is now."""
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **self.settings.headers}
        credential = self.settings.credential
        if credential is not None and self._secret is not None:
            headers[credential.header] = credential.prefix + self._secret()
        return headers

    def without_secret(self, body: bytes) -> bytes:
        """What it said, without the credential, should it have quoted it."""
        return body if self._secret is None else body.replace(self._secret().encode(), b"***")


class Route(NamedTuple):
    """How one endpoint is called: by whom, where, and by which name of the model; empty is the slug."""

    backend: Backend
    url: str
    model: str

    def body(self, chat: Chat, slug: str) -> bytes:
        """The client's body with the model as the backend calls it; a stream is asked for its tokens."""
        settings = self.backend.settings
        name = settings.model or settings.models.get(slug) or self.model or slug
        members = {**chat.raw, "model": msgspec.Raw(msgspec.json.encode(name))}
        if chat.stream and settings.stream_usage:
            options = msgspec.json.decode(chat.raw["stream_options"]) if "stream_options" in chat.raw else {}
            asked = {**(options or {}), "include_usage": True}
            members["stream_options"] = msgspec.Raw(msgspec.json.encode(asked))
        return msgspec.json.encode(members)


class Backends:
    """All of them. An endpoint goes to the one that names it, else to the first with a pattern that matches it."""

    def __init__(self, settings: Iterable[BackendSettings]) -> None:
        """Raises BadSecret."""
        self._named: dict[str, Backend] = {}
        self._patterns: list[tuple[re.Pattern[str], Backend]] = []
        self._all: list[Backend] = []
        self._listed: Mapping[str, Listed] = {}
        self._routes: dict[str, Route | None] = {}
        for one in settings:
            self._all.append(backend := Backend(one))
            for endpoint in one.endpoints:
                if "*" in endpoint:
                    pattern = ".*".join(map(re.escape, endpoint.split("*")))
                    self._patterns.append((re.compile(pattern, re.DOTALL), backend))
                else:
                    self._named[endpoint] = backend

    def know(self, listed: Mapping[str, Listed]) -> None:
        """What the catalogue that serves now says of its endpoints."""
        self._listed = listed
        self._routes = {}

    def route(self, endpoint_id: str) -> Route | None:
        """How an endpoint is called; None where nobody answers for it."""
        if endpoint_id not in self._routes:
            self._routes[endpoint_id] = self._route(endpoint_id)
        return self._routes[endpoint_id]

    async def close(self) -> None:
        """Closes the connections."""
        for one in self._all:
            await one.session.close()

    def _route(self, endpoint_id: str) -> Route | None:
        matching = (backend for pattern, backend in self._patterns if pattern.fullmatch(endpoint_id))
        backend = self._named.get(endpoint_id) or next(matching, None)
        if backend is None:
            return None
        listed = self._listed.get(endpoint_id, Listed())
        base_url = backend.settings.base_url or listed.address
        if not base_url or problem_of_url(base_url, plain=backend.settings.plain):
            return None
        return Route(backend, base_url + COMPLETIONS, listed.upstream_model)


@cache
def _trusting(ca: Path | None) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=None if ca is None else str(ca))
