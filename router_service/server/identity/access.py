"""Access: who calls, found once a call by a bearer token or by the certificate of its connection."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from typing import Any, Protocol

import grpc

from router_service.asks import Unauthenticated
from router_service.callers.book import Callers
from router_service.domain.caller import Caller
from router_service.server.identity.metadata import metadata_of
from router_service.server.identity.roles import need

Context = grpc.aio.ServicerContext[Any, Any]

AUTHORIZATION = "authorization"
CHALLENGE, WRONG_TOKEN = 'Bearer realm="router-service"', 'Bearer realm="router-service", error="invalid_token"'
_LOOK_AGAIN_S = 1.0
_SAN = "x509_subject_alternative_name"

# Why a call was not let in: the label of the metric, and what its caller is told.
_MISSING = ("missing", "the call brings no credential")
_MALFORMED = ("malformed", "the call's authorization is not one bearer token")
_TOKEN = ("unknown_token", "no caller has this token")
_EXPIRED = ("expired_token", "the token has expired")
_CERTIFICATE = ("unknown_certificate", "no caller has this certificate")
_AMBIGUOUS = ("ambiguous_certificate", "the certificate has names of several callers")


class Access(Protocol):
    """Finds callers. While `version` is the same object, the same credential is the same caller's, until it expires."""

    @property
    def version(self) -> object: ...

    def find(self, context: Context) -> Caller:
        """Who makes this call. Raises Unauthenticated."""


class Open:
    """No authentication: everybody is one caller."""

    version = None

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def find(self, context: Context) -> Caller:
        return self._caller


class Known:
    """The callers of a file; `callers` may be replaced at any time, in one step, and holds for the next look."""

    def __init__(self, callers: Callers, clock: Callable[[], int], refused: Callable[[str], None]) -> None:
        """`refused` is told why a call was not let in."""
        self.callers, self._clock, self._refused = callers, clock, refused

    @property
    def version(self) -> object:
        return self.callers

    def find(self, context: Context) -> Caller:
        """A token that is sent decides, and the certificate where none is."""
        sent = None
        for key, value in metadata_of(context):
            if key == AUTHORIZATION:
                if sent is not None or isinstance(value, bytes):
                    raise self._no(_MALFORMED, WRONG_TOKEN)
                sent = value
        return self._by_certificate(context) if sent is None else self._by_token(sent)

    def _by_token(self, authorization: str) -> Caller:
        scheme, _, token = authorization.partition(" ")
        if not token or scheme.lower() != "bearer":
            raise self._no(_MALFORMED, WRONG_TOKEN)
        digest = hashlib.sha256(token.encode()).digest()
        # What is looked up is a hash, whose bytes nobody can choose; the comparison takes as long whatever it finds.
        found = self.callers.by_token.get(digest)
        if found is None or not hmac.compare_digest(found.digest, digest):
            raise self._no(_TOKEN, WRONG_TOKEN)
        if found.expires_at is not None and found.expires_at <= self._clock():
            raise self._no(_EXPIRED, WRONG_TOKEN)
        return found.caller

    def _by_certificate(self, context: Context) -> Caller:
        names = context.peer_identities()
        # Of a certificate without alternative names gRPC gives the common name, which identifies nobody.
        if not names or context.peer_identity_key() != _SAN:
            raise self._no(_MISSING if not names else _CERTIFICATE, CHALLENGE)
        by_san = self.callers.by_san
        found = {caller.caller: caller for name in names if (caller := by_san.get(name)) is not None}
        if len(found) != 1:
            raise self._no(_AMBIGUOUS if found else _CERTIFICATE, CHALLENGE)
        return found.popitem()[1]

    def _no(self, why: tuple[str, str], challenge: str) -> Unauthenticated:
        self._refused(why[0])
        return Unauthenticated(why[1], challenge)


class Visitor:
    """The caller of a stream: looked for again where callers have changed, and every second, since tokens expire."""

    def __init__(self, access: Access, context: Context, roles: tuple[str, ...]) -> None:
        self._access, self._context, self._roles = access, context, roles
        self._found: Caller | None = None
        self._version: object = None
        self._looked_at = 0.0

    def caller(self) -> Caller:
        """Who it is now. Raises Unauthenticated or RoleMissing where the stream may not go on."""
        version, now = self._access.version, time.monotonic()
        if self._found is None or version is not self._version or now - self._looked_at >= _LOOK_AGAIN_S:
            self._version, self._looked_at = version, now
            self._found = self._access.find(self._context)
            need(self._found, *self._roles)
        return self._found
