"""`router-service check`: every problem of a catalogue at once, with file, line and cure."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from router_service.catalog.check import check
from router_service.catalog.located import Located
from router_service.cli.options import DECIDED, MISUSED, flag
from router_service.server.app import wall_clock

_OF_EACH = 10  # an import of thousands may warn of as many


@click.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@flag("--all", "every", is_flag=True, help="List every warning, not only the first ones.")
@flag("--strict", is_flag=True, help="Exit with 2 on warnings too.")
def command(path: Path, strict: bool, every: bool) -> None:
    """Check a catalogue: PATH is a YAML file or a folder of them.

    Exit code 0 if it can be served, 2 if not.
    """
    report = check(path, now=wall_clock())
    for problem in report.problems:
        click.secho("error ", fg="red", bold=True, nl=False)
        click.echo(str(problem))
    shown = report.warnings if every or strict else _first_of_each(report.warnings)
    for warning in shown:
        click.secho("warning ", fg="yellow", bold=True, nl=False)
        click.echo(str(warning))
    if len(shown) < len(report.warnings):
        click.echo(f"… and {len(report.warnings) - len(shown)} more like these (--all)")
    counts = f"{_plural(len(report.problems), 'problem')}, {_plural(len(report.warnings), 'warning')}"
    if report.content is not None:
        content = report.content
        what = f"{_plural(len(content.endpoints), 'endpoint')}, {_plural(len(content.policies), 'policy', 'policies')}"
        what += f", {_plural(len(content.workloads), 'workload')}" if content.workloads else ""
        counts += f"; {what}, version {content.version()}"
    click.echo(counts)
    sys.exit(MISUSED if report.problems or (strict and report.warnings) else DECIDED)


def _first_of_each(warnings: Sequence[Located]) -> list[Located]:
    """Those of policies and workloads, which say most, then the first ones of each kind: a kind has one cure."""
    shown: list[Located] = []
    counts: Counter[str] = Counter()
    for warning in sorted(warnings, key=lambda one: not one.problem.field.startswith(("policies", "workloads"))):
        counts[warning.problem.cure] += 1
        if counts[warning.problem.cure] <= _OF_EACH:
            shown.append(warning)
    return shown


def _plural(count: int, noun: str, many: str = "") -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {many or noun + 's'}"
