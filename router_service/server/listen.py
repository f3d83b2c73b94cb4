"""Addresses to listen on: loopback and Unix sockets may be plain, anything else takes TLS or must be said out loud."""

from __future__ import annotations

import ipaddress
import os
import socket
import stat
from dataclasses import dataclass, replace
from pathlib import Path

import grpc

DEFAULT_ADDRESS = "127.0.0.1:50051"
SOCKET_MODE = 0o660
_UNIX = "unix:"
PLAIN, TLS, MTLS = "plain", "tls", "mtls"
"""How an address is spoken to: in plain, by TLS, or by TLS to clients with a certificate alone."""


_STRENGTH = (PLAIN, TLS, MTLS)
_MISSING = {
    TLS: "TLS needs a certificate and its key; give --tls-cert and --tls-key",
    MTLS: "clients' certificates need their CAs; give --tls-client-ca, with --tls-cert and --tls-key",
}


class AddressError(ValueError):
    """An address that cannot be listened on, with the cure."""


@dataclass(frozen=True, slots=True)
class Address:
    """One address: a Unix socket's path, or a host and a port (0 lets the system choose), and how it is spoken to."""

    text: str
    path: Path | None
    host: str
    port: int
    security: str = PLAIN

    @classmethod
    def parse(cls, text: str, security: str = PLAIN) -> Address:
        """`unix:/path` or `host:port` (`[::1]:50051` for IPv6), with `plain:`, `tls:` or `mtls:` before it.

        Without that it is spoken to by `security`; a Unix socket always in plain. Raises AddressError.
        """
        for said in (PLAIN, TLS, MTLS):
            if text.startswith(f"{said}:"):
                address = cls.parse(text.removeprefix(f"{said}:"), said)
                if address.path is not None and said != PLAIN:
                    raise AddressError(f"{text}: a Unix socket is plain; write unix:{address.path}")
                return replace(address, text=text)
        if text.startswith(_UNIX):
            path = text.removeprefix(_UNIX).removeprefix("//")
            if not path:
                raise AddressError(f"{text}: a Unix socket needs a path, such as unix:/run/router.sock")
            return cls(text, Path(path), "", 0)
        host, colon, port = text.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65535 or not host:
            raise AddressError(f"{text}: write host:port, such as {DEFAULT_ADDRESS}, or unix:/path")
        return cls(text, None, host.strip("[]"), int(port), security)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it: a Unix socket, or a loopback address."""
        if self.path is not None or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_addresses(texts: tuple[str, ...], *, insecure: bool, offers: str = PLAIN) -> tuple[Address, ...]:
    """All addresses, or AddressError with every one that cannot be had, one a line.

    `offers` is the best that the server can: MTLS with the CAs of clients, TLS with a certificate, else PLAIN.
    """
    addresses, problems = [], []
    for text in texts or (DEFAULT_ADDRESS,):
        try:
            address = Address.parse(text, offers)
        except AddressError as error:
            problems.append(str(error))
            continue
        if address.security == PLAIN and not (address.is_local or insecure):
            problems.append(
                f"{text}: plain gRPC beyond loopback and Unix sockets shows every request to the network; "
                "give --tls-cert and --tls-key, listen on 127.0.0.1, or say --insecure"
            )
        if _STRENGTH.index(address.security) > _STRENGTH.index(offers):
            problems.append(f"{text}: {_MISSING[address.security]}")
        addresses.append(address)
    if problems:
        raise AddressError("\n".join(problems))
    return tuple(addresses)


def bind(
    server: grpc.aio.Server,
    address: Address,
    credentials: grpc.ServerCredentials | None = None,
    *,
    claimed: bool = False,
) -> str:
    """Binds an address and returns how clients reach it. Raises AddressError where it is taken, even in part.

    `credentials` are for an address that is not plain; `claimed` says that a supervisor holds the port for its workers.
    """
    if address.path is not None:
        return _bind_socket(server, address.path)
    port = address.port
    for host in hosts_of(address):
        if not claimed:
            _refuse_taken(address, host, port)
        shown = f"[{host}]" if ":" in host else host
        try:
            # A name with two addresses gets the same port on both.
            port = _add_port(server, f"{shown}:{port}", credentials)
        except RuntimeError as error:
            raise AddressError(f"{address.text}: cannot listen on {shown}:{port}") from error
    return f"[{address.host}]:{port}" if ":" in address.host else f"{address.host}:{port}"


def _add_port(server: grpc.aio.Server, address: str, credentials: grpc.ServerCredentials | None) -> int:
    return server.add_insecure_port(address) if credentials is None else server.add_secure_port(address, credentials)


def hosts_of(address: Address) -> list[str]:
    """The numeric addresses that a host stands for and that this machine has."""
    try:
        found = socket.getaddrinfo(address.host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise AddressError(f"{address.text}: {address.host} is no address of this machine") from error
    hosts = [str(one[4][0]) for one in found]
    usable = [host for host in dict.fromkeys(hosts) if _has(host)]
    if not usable:
        raise AddressError(f"{address.text}: {address.host} is no address of this machine")
    return usable


def _has(host: str) -> bool:
    """Whether this machine has the address; one without IPv6 may still know the name ::1."""
    with _socket_for(host) as probe:
        try:
            probe.bind((host, 0))
        except OSError:
            return False
        return True


def _refuse_taken(address: Address, host: str, port: int) -> None:
    """Says that a port is in use before gRPC does, which says less and may bind a part of what was asked."""
    with _socket_for(host) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            what = f"cannot listen there ({error.strerror}); is the port in use?"
            raise AddressError(f"{address.text}: {what}") from error


def _socket_for(host: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.socket(family, socket.SOCK_STREAM)


def _bind_socket(server: grpc.aio.Server, path: Path) -> str:
    """Binds a Unix socket with mode 0660, in place of one that a dead server left behind."""
    if path.exists() or path.is_symlink():
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise AddressError(f"unix:{path}: a file that is no socket is in the way")
        if _is_answered(path):
            raise AddressError(f"unix:{path}: another server listens there")
        path.unlink()
    before = os.umask(0o777 & ~SOCKET_MODE)
    try:
        server.add_insecure_port(f"unix:{path}")
    except RuntimeError as error:
        raise AddressError(
            f"unix:{path}: cannot listen there; does the folder exist, and is the path short?"
        ) from error
    finally:
        os.umask(before)
    return f"unix:{path}"


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True
