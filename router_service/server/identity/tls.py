"""TLS: certificate, key and client CA of the server, read from files, tried out, and given to each new connection.

A certificate that no client could accept never replaces one that works: it is tried in a handshake of its own first.
Connections that stand are not touched by a new one.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import grpc

_READS = 5  # until what was read is what was tried
_CURES = {
    "KEY_VALUES_MISMATCH": "the key is not that of the certificate; put the two that belong together there",
    "CERTIFICATE_VERIFY_FAILED": "put a certificate there that is valid now and meant for servers",
}


class TlsInvalid(ValueError):
    """Files that make no TLS server; one problem a line, each with its cure."""


@dataclass(frozen=True, slots=True)
class TlsPaths:
    """Where certificate chain, key and, for clients' certificates, the certificates of their CAs are, all in PEM."""

    cert: Path
    key: Path
    client_ca: Path | None = None

    @property
    def all(self) -> tuple[Path, ...]:
        """Every file."""
        return (self.cert, self.key) if self.client_ca is None else (self.cert, self.key, self.client_ca)


@dataclass(frozen=True, slots=True)
class Tls:
    """What was read, and the second (of the epoch) from which on the certificate is no longer valid."""

    cert: bytes
    key: bytes
    client_ca: bytes | None
    expires_at_s: float


def read_tls(paths: TlsPaths) -> Tls:
    """Reads the files and tries them out. Raises TlsInvalid."""
    read = _contents(paths)
    for _ in range(_READS):
        # The library tries files, not bytes; they may be replaced between.
        expires_at_s, found = _tried(paths), _contents(paths)
        if found == read:
            return Tls(read[0], read[1], read[2] if paths.client_ca else None, expires_at_s)
        read = found
    raise TlsInvalid(f"{paths.cert}: the files change all the time; write them and rename them")


def _contents(paths: TlsPaths) -> list[bytes]:
    found, problems = [], []
    for path in paths.all:
        try:
            found.append(path.read_bytes())
        except OSError as error:
            problems.append(f"{path}: cannot be read: {error.strerror or error}; make it readable")
    if problems:
        raise TlsInvalid("\n".join(problems))
    return found


def _tried(paths: TlsPaths) -> float:
    """When the certificate ends, of a handshake with it."""
    problems, expires_at_s = [], 0.0
    try:
        expires_at_s = _expiry(_handshake(paths))
    except (ssl.SSLError, ValueError, OSError) as error:
        problems.append(f"{paths.cert}, {paths.key}: {_told(error)}")
    if paths.client_ca is not None:
        try:
            if not ssl.create_default_context(cafile=str(paths.client_ca)).get_ca_certs():
                problems.append(f"{paths.client_ca}: holds no certificate of a CA; put those of the clients' CAs there")
        except (ssl.SSLError, OSError) as error:
            problems.append(f"{paths.client_ca}: {_told(error)}")
    if problems:
        raise TlsInvalid("\n".join(problems))
    return expires_at_s


def _handshake(paths: TlsPaths) -> ssl.SSLObject:
    """A client that trusts this certificate alone, after a handshake in memory with a server that has it."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(paths.cert, paths.key, password=_no_password)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False  # any name of it will do
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    client.load_verify_locations(cafile=paths.cert)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(to_client, to_server)
    answering = server.wrap_bio(to_server, to_client, server_side=True)
    waiting = [asking, answering]
    while waiting:
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                pass
    return asking


def _expiry(client: ssl.SSLObject) -> float:
    certificate = client.getpeercert() or {}
    return float(ssl.cert_time_to_seconds(str(certificate["notAfter"])))


def _no_password() -> str:
    raise ValueError("the key is encrypted; give one that is not, readable for the user of the service alone")


def _told(error: Exception) -> str:
    """What is wrong, and what to do."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{error.verify_message}; {_CURES['CERTIFICATE_VERIFY_FAILED']}"
    reason = getattr(error, "reason", None) or (str(error) if isinstance(error, ValueError) else "")
    if isinstance(error, ssl.SSLError):
        return _CURES.get(reason, f"no PEM that can be used ({reason or error}); put a certificate and its key there")
    return reason or f"{getattr(error, 'strerror', None) or error}"


class Certificates:
    """What new connections get; `install` replaces it in one step."""

    def __init__(self, tls: Tls) -> None:
        self._tls = tls

    def install(self, tls: Tls) -> bool:
        """Whether it is another than before."""
        changed, self._tls = tls != self._tls, tls
        return changed

    def credentials(self, *, mutual: bool) -> grpc.ServerCredentials:
        """The credentials of one address; where `mutual`, no client without a certificate of the CA gets in."""
        configured = self._tls

        def fetch() -> grpc.ServerCertificateConfiguration | None:
            """gRPC asks before every handshake, on a thread of its own; None is "as before"."""
            nonlocal configured
            tls = self._tls
            if tls is configured:
                return None
            configured = tls
            return _configuration(tls, mutual=mutual)

        first: Callable[..., grpc.ServerCredentials] = grpc.dynamic_ssl_server_credentials
        return first(_configuration(configured, mutual=mutual), fetch, require_client_authentication=mutual)


def _configuration(tls: Tls, *, mutual: bool) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(tls.key, tls.cert)], tls.client_ca if mutual else None)
