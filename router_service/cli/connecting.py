"""Flags of verbs that ask a server: what they show to it, and how they know it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from router_service.cli.options import UsageProblem, flag
from router_service.wire.credentials import Credentials

_Command = TypeVar("_Command", bound=Callable[..., Any])
_FILE = click.Path(path_type=Path)


def credentials_flags(command: _Command) -> Callable[..., Any]:
    """Flags that become the parameter `credentials`."""

    @functools.wraps(command)
    def with_credentials(
        *arguments: Any,
        token_file: Path | None,
        tls_ca: Path | None,
        tls_cert: Path | None,
        tls_key: Path | None,
        insecure: bool,
        **others: Any,
    ) -> Any:
        credentials = _read(token_file, tls_ca, tls_cert, tls_key, insecure=insecure)
        return command(*arguments, credentials=credentials, **others)

    flagged: Callable[..., Any] = with_credentials
    for one in (
        flag("--insecure", is_flag=True, help="Send the token over a plain connection beyond this machine too."),
        _tls_flag("--tls-key", "Its key, in PEM."),
        _tls_flag("--tls-cert", "A certificate to show to the server, in PEM."),
        _tls_flag("--tls-ca", "Trust a server with a certificate of these CAs, in PEM.  [default: the system's]"),
        flag("--token-file", type=_FILE, help="A file that holds a bearer token to show to the server."),
    ):
        flagged = one(flagged)
    return flagged


def _tls_flag(name: str, about: str) -> Callable[[_Command], _Command]:
    # The server's own certificate has the names without CLIENT, and both may run in one environment.
    variable = "ROUTER_SERVICE_CLIENT_" + name.removeprefix("--").upper().replace("-", "_")
    return click.option(name, type=_FILE, help=about, envvar=variable, show_envvar=True)


def _read(
    token_file: Path | None, ca: Path | None, cert: Path | None, key: Path | None, *, insecure: bool
) -> Credentials:
    problems: list[str] = []
    if (cert is None) != (key is None):
        problems.append("a certificate is shown with its key: give both --tls-cert and --tls-key")
    token = _token(token_file, problems)
    trusted, shown, its_key = (_pem(one, problems) for one in (ca, cert, key))
    if problems:
        raise UsageProblem("\n".join(problems))
    return Credentials(token, trusted, shown, its_key, insecure)


def _token(file: Path | None, problems: list[str]) -> str:
    if file is None:
        return ""
    held = _contents(file, problems)
    if held is None:
        return ""
    token = held.decode("ascii", "replace").strip()
    if not token.isprintable() or not token.isascii() or len(token.split()) != 1:
        problems.append(
            f"{file}: holds no token; it must hold one and nothing else, as `router-service token` gives it"
        )
    return token


def _pem(file: Path | None, problems: list[str]) -> bytes | None:
    found = None if file is None else _contents(file, problems)
    if found is not None and b"-----BEGIN" not in found:
        problems.append(f"{file}: holds no PEM; give a file that begins with -----BEGIN")
    return found


def _contents(file: Path, problems: list[str]) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError as error:
        problems.append(f"{file}: cannot be read: {error.strerror or os.strerror(error.errno or 0)}; make it readable")
        return None
