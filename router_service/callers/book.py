"""The callers of one version of their file, found by what they show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import msgspec

from router_service.domain.caller import Caller


class Token(msgspec.Struct, frozen=True):
    """A bearer token by its SHA-256; after `expires_at` (ms) it is nobody's."""

    digest: bytes
    caller: Caller
    expires_at: int | None = None


@dataclass(frozen=True, slots=True)
class Callers:
    """Who may call: by ids, by names of certificates (in bytes, the way gRPC gives them), by digests of tokens."""

    by_id: Mapping[str, Caller]
    by_san: Mapping[bytes, Caller]
    by_token: Mapping[bytes, Token]

    @classmethod
    def of(cls, callers: Iterable[Caller], tokens: Iterable[Token] = ()) -> Callers:
        """Of values in which no name, no digest and no id is there twice."""
        by_id = {caller.caller: caller for caller in callers}
        by_san = {san.encode(): caller for caller in by_id.values() for san in caller.sans}
        by_token = {token.digest: token for token in tokens}
        return cls(MappingProxyType(by_id), MappingProxyType(by_san), MappingProxyType(by_token))


NOBODY = Callers.of(())
