"""`router-service token`: a new bearer token, and the entry of the callers file that knows it."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from router_service.callers.tokens import LEAST, digest_of, new_token
from router_service.cli.options import UsageProblem, flag
from router_service.domain.caller import CALLER_ID
from router_service.domain.meanings import Instant
from router_service.domain.problems import Problem


@click.command()
@click.argument("caller")
@flag("--of-file", type=click.Path(path_type=Path), help="Take the token that this file holds (- is standard input).")
@flag("--expires-at", metavar="INSTANT", help="From when on it is nobody's: 2027-01-31, or with a time and a zone.")
def command(caller: str, of_file: Path | None, expires_at: str | None) -> None:
    """Make a bearer token for CALLER.

    The token goes to standard output, and nowhere else: keep it where its caller reads it. The entry for `tokens` of
    the callers file, which holds its SHA-256 alone, goes to standard error.

    \b
    router-service token gateway > gateway.token 2>> tokens.yaml
    """  # noqa: D301 - click's own mark, a backspace, keeps the lines of the example apart
    problems: list[Problem] = []
    name = CALLER_ID.read(caller, "CALLER", problems)
    ends = None if expires_at is None else Instant().read(expires_at, "--expires-at", problems)
    token = new_token() if of_file is None else _held(of_file, problems)
    if problems or not name:
        raise UsageProblem("\n".join(map(str, problems)) or "CALLER: empty; give the id of a caller")
    if of_file is None:
        click.echo(token)
    end = f", expires_at: {datetime.fromtimestamp(ends / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}" if ends is not None else ""
    click.echo(f"- {{sha256: {digest_of(token)}, caller: {name}{end}}}", err=of_file is None)


def _held(file: Path, problems: list[Problem]) -> str:
    """The token that a file holds; what is wrong with it never shows it."""
    if str(file) == "-":
        token = sys.stdin.read().strip()
    else:
        try:
            token = file.read_text(encoding="ascii").strip()
        except UnicodeDecodeError:
            token = ""
    if len(token.split()) != 1 or not token.isprintable() or not token.isascii():
        problems.append(
            Problem("--of-file", "it holds no token", "give a file that holds one of ASCII, and nothing else")
        )
    elif len(token) < LEAST:
        message = f"a token of {len(token)} characters could be guessed by whoever reads its hash"
        problems.append(
            Problem("--of-file", message, f"use at least {LEAST} random ones; without --of-file it is made")
        )
    return token
