"""`router-service check`: every problem of a catalogue, and of callers files, at once, with file, line and cure."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from router_service.callers.book import Callers
from router_service.callers.check import check_callers
from router_service.catalog.check import check
from router_service.catalog.content import Content
from router_service.catalog.located import Located
from router_service.cli.options import DECIDED, MISUSED, UsageProblem, flag
from router_service.server.app import wall_clock

_OF_EACH = 10  # an import of thousands may warn of as many


@click.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True), required=False)
@flag(
    "--callers",
    type=click.Path(path_type=Path, exists=True),
    help="Callers files to check too: what they name must be in the catalogue.",
)
@flag("--all", "every", is_flag=True, help="List every warning, not only the first ones.")
@flag("--strict", is_flag=True, help="Exit with 2 on warnings too.")
def command(path: Path | None, callers: Path | None, strict: bool, every: bool) -> None:
    """Check a catalogue: PATH is a YAML file or a folder of them.

    Exit code 0 if it can be served, 2 if not.
    """
    if path is None and callers is None:
        raise UsageProblem("nothing to check: give the PATH of a catalogue, --callers, or both")
    problems: list[Located] = []
    warnings: list[Located] = []
    counted: list[str] = []
    content = None
    if path is not None:
        report = check(path, now=wall_clock())
        content = report.content
        problems += report.problems
        warnings += report.warnings
        counted += [] if content is None else [_content_told(content)]
    if callers is not None:
        found = check_callers(callers, content, now=wall_clock())
        problems += found.problems
        warnings += found.warnings
        counted += [] if found.callers is None else [_callers_told(found.callers)]
    _tell(problems, warnings, every=every or strict)
    click.echo("; ".join([f"{_plural(len(problems), 'problem')}, {_plural(len(warnings), 'warning')}", *counted]))
    sys.exit(MISUSED if problems or (strict and warnings) else DECIDED)


def _tell(problems: Sequence[Located], warnings: Sequence[Located], *, every: bool) -> None:
    for problem in problems:
        click.secho("error ", fg="red", bold=True, nl=False)
        click.echo(str(problem))
    shown = warnings if every else _first_of_each(warnings)
    for warning in shown:
        click.secho("warning ", fg="yellow", bold=True, nl=False)
        click.echo(str(warning))
    if len(shown) < len(warnings):
        click.echo(f"… and {len(warnings) - len(shown)} more like these (--all)")


def _content_told(content: Content) -> str:
    told = f"{_plural(len(content.endpoints), 'endpoint')}, {_plural(len(content.policies), 'policy', 'policies')}"
    told += f", {_plural(len(content.workloads), 'workload')}" if content.workloads else ""
    return f"{told}, version {content.version()}"


def _callers_told(callers: Callers) -> str:
    return f"{_plural(len(callers.by_id), 'caller')}, {_plural(len(callers.by_token), 'token')}"


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
