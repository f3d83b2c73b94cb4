"""The command line, one file a verb. Exit codes: 0 decided, 1 refused, 2 usage or configuration, 3 unreachable."""

from __future__ import annotations

import importlib

import click

_VERBS = {
    "serve": "serve",
    "decide": "decide",
    "explain": "explain",
    "check": "check",
    "schema": "schema",
    "import": "import_",
    "health": "health",
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


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def main() -> None:
    """Decides which LLM endpoint a request may go to, and in which order to fall back."""
