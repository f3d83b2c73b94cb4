"""The command line, one file a verb. Exit codes: 0 decided, 1 refused, 2 usage or configuration, 3 unreachable."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import Any

import click

from router_service.cli.early import ends_at_once

# The server starts a process to load catalogues, which gRPC would comment on; what goes wrong, it raises.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
_FAILED = 2
_BROKEN_PIPE = 141  # as a shell tells of a program that a broken pipe ended
_VERBS = {
    "serve": "serve",
    "decide": "decide",
    "explain": "explain",
    "check": "check",
    "schema": "schema",
    "import": "import_",
    "envoy": "envoy",
    "trace": "trace",
    "health": "health",
    "token": "token",
    "version": "version",
}


class _Verbs(click.Group):
    """Finds verbs by their files and imports only the one that runs, so that a probe starts quickly."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        if name not in _VERBS:
            return None
        command: click.Command = importlib.import_module(f"router_service.cli.{_VERBS[name]}").command
        return command

    def main(self, *arguments: Any, **extra: Any) -> Any:
        """Runs a verb; what cannot be written or read ends with one line and exit code 2, never with a traceback."""
        if not arguments and "args" not in extra and sys.argv[1:2] == ["serve"]:  # this is the process's own verb
            ends_at_once()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a terminal may not know every sign
        try:
            return super().main(*arguments, **extra)
        except BrokenPipeError:
            # Whoever read has seen enough, and the exit code would tell nobody.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(_BROKEN_PIPE)
        except OSError as error:
            what = f"{error.filename}: " if error.filename else ""
            click.echo(f"Error: {what}{error.strerror or error}", err=True)
            sys.exit(_FAILED)


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def main() -> None:
    """Decides which LLM endpoint a request may go to, and in which order to fall back."""
