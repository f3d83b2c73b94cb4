"""What a client shows to a server, and how it knows the server: token, certificate, and the CAs that it trusts."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import Any

import grpc

# What an address may stand behind, as where a server listens does.
_TLS, _PLAIN = ("tls:", "mtls:"), "plain:"


class Unprotected(ValueError):
    """A token would go over the network for everybody to read."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """All in PEM but the token. TLS is spoken where a certificate is given, or the target says `tls:`.

    `insecure` allows a token over a plain connection beyond this machine. No secret is shown in a traceback.
    """

    token: str = field(default="", repr=False)
    ca: bytes | None = None
    cert: bytes | None = None
    key: bytes | None = field(default=None, repr=False)
    insecure: bool = False

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What goes with each call."""
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()

    def channel(self, target: str, options: list[tuple[str, Any]]) -> grpc.Channel:
        """A channel to `host:port`, `unix:/path`, or one of these behind `tls:` or `plain:`. Raises Unprotected."""
        address = target.removeprefix(_PLAIN)
        for secured in _TLS:
            address = address.removeprefix(secured)
        certified = self.ca is not None or self.cert is not None
        if target.startswith(_TLS) or (certified and not target.startswith((_PLAIN, "unix:"))):
            trusted = grpc.ssl_channel_credentials(self.ca, self.key, self.cert)
            return grpc.secure_channel(address, trusted, options)
        if self.token and not self.insecure and not is_local(address):
            raise Unprotected(
                f"{target}: the token would go over a plain connection for everybody to read; "
                f"ask tls:{address} (with --tls-ca where its CA is no public one), or say --insecure"
            )
        return grpc.insecure_channel(address, options)


NO_CREDENTIALS = Credentials()


def is_local(address: str) -> bool:
    """Whether an address is a Unix socket or of this machine alone."""
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
