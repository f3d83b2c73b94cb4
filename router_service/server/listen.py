"""Addresses to listen on: loopback and Unix sockets may be plain, anything else must be said out loud."""

from __future__ import annotations

import ipaddress
import os
import socket
import stat
from dataclasses import dataclass
from pathlib import Path

import grpc

DEFAULT_ADDRESS = "127.0.0.1:50051"
SOCKET_MODE = 0o660
_UNIX = "unix:"


class AddressError(ValueError):
    """An address that cannot be listened on, with the cure."""


@dataclass(frozen=True, slots=True)
class Address:
    """One address: a Unix socket's path, or a host and a port (0 lets the system choose)."""

    text: str
    path: Path | None
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """`unix:/path` or `host:port` (`[::1]:50051` for IPv6). Raises AddressError."""
        if text.startswith(_UNIX):
            path = text.removeprefix(_UNIX).removeprefix("//")
            if not path:
                raise AddressError(f"{text}: a Unix socket needs a path, such as unix:/run/router.sock")
            return cls(text, Path(path), "", 0)
        host, colon, port = text.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65535 or not host:
            raise AddressError(f"{text}: write host:port, such as {DEFAULT_ADDRESS}, or unix:/path")
        return cls(text, None, host.strip("[]"), int(port))

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it: a Unix socket, or a loopback address."""
        if self.path is not None or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_addresses(texts: tuple[str, ...], *, insecure: bool) -> tuple[Address, ...]:
    """All addresses, or AddressError with every one that cannot be had, one a line."""
    addresses, problems = [], []
    for text in texts or (DEFAULT_ADDRESS,):
        try:
            address = Address.parse(text)
        except AddressError as error:
            problems.append(str(error))
            continue
        if not (address.is_local or insecure):
            problems.append(
                f"{text}: plain gRPC beyond loopback and Unix sockets shows every request to the network; "
                "listen on 127.0.0.1, or say --insecure"
            )
        addresses.append(address)
    if problems:
        raise AddressError("\n".join(problems))
    return tuple(addresses)


def bind(server: grpc.aio.Server, address: Address) -> str:
    """Binds an address and returns how clients reach it. Raises AddressError where it is taken."""
    if address.path is not None:
        return _bind_socket(server, address.path)
    host = f"[{address.host}]" if ":" in address.host else address.host
    try:
        port = server.add_insecure_port(f"{host}:{address.port}")
    except RuntimeError as error:
        raise AddressError(f"{address.text}: cannot listen there; is the port in use?") from error
    return f"{host}:{port}"


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
