"""`router-service trace`: the decisions and refusals that a server keeps, shown, listed, exported, explained again."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from router_service.cli import render, render_trace
from router_service.cli.connecting import credentials_flags
from router_service.cli.options import (
    DECIDED,
    DEFAULT_SERVER,
    OUTPUT,
    REFUSED,
    TIMEOUT,
    ServerUnreachable,
    UsageProblem,
    flag,
)
from router_service.domain.meanings import Instant
from router_service.domain.problems import Problem
from router_service.domain.reasons import REFUSALS
from router_service.wire.client import Client, NotFound, Rejected, Unreachable
from router_service.wire.credentials import Credentials, Unprotected
from router_service.wire.messages import ExplainRequest, ListTracesRequest, Timestamp, Trace, to_json

_Command = TypeVar("_Command", bound=Callable[..., Any])
_OUTCOMES = ("decided", *REFUSALS)

SERVER = flag(
    "--server", metavar="HOST:PORT", default=DEFAULT_SERVER, show_default=True, help="The server (or unix:/path)."
)


def filters(command: _Command) -> _Command:
    """Which traces; every filter that is given must hold."""
    for one in (
        flag("--until", metavar="INSTANT", help="Only those made before this instant."),
        flag("--since", metavar="INSTANT", help="Only those made at this instant or later."),
        flag("--endpoint", default="", help="Only those that list this endpoint as a candidate."),
        flag("--outcome", default="", metavar="NAME", help=f"Only of this outcome: {', '.join(_OUTCOMES)}."),
        flag("--policy", default="", help="Only of this policy."),
    ):
        command = one(command)
    return command


@click.group()
def command() -> None:
    """Show, list, export and explain the decisions and refusals that a server keeps."""


@command.command()
@click.argument("trace_id")
@SERVER
@TIMEOUT
@credentials_flags
@OUTPUT
def show(trace_id: str, server: str, timeout: float, credentials: Credentials, output: str) -> None:
    """Show one: the answer word for word, what was asked, and what was reported of it."""
    with _asking(server, timeout, credentials) as client:
        trace = client.trace(trace_id)
    if output == "json":
        click.echo(json.dumps(to_json(trace), indent=2, ensure_ascii=False))
    else:
        render_trace.trace(trace)


@command.command("list")
@filters
@flag("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many at most.")
@SERVER
@TIMEOUT
@credentials_flags
@OUTPUT
def list_(limit: int, server: str, timeout: float, credentials: Credentials, output: str, **given: Any) -> None:
    """List those that match, newest first."""
    with _asking(server, timeout, credentials) as client:
        found = list(client.traces(_query(**given), limit))
    if output == "json":
        click.echo(json.dumps({"traces": [_listed(one) for one in found]}, indent=2, ensure_ascii=False))
    elif found:
        render_trace.traces(found)
    else:
        click.echo("No trace matches.", err=True)


@command.command()
@filters
@flag("--reports", "with_reports", is_flag=True, help="With what was reported of each, which takes a call for each.")
@SERVER
@TIMEOUT
@credentials_flags
def export(server: str, timeout: float, credentials: Credentials, with_reports: bool, **given: Any) -> None:
    """Export all that match as JSON, one a line, newest first."""
    with _asking(server, timeout, credentials) as client:
        for one in client.traces(_query(**given)):
            line = _whole(client, one) if with_reports else _listed(one)
            if line is not None:
                click.echo(json.dumps(line, ensure_ascii=False))


@command.command()
@click.argument("trace_id")
@flag("--all", "every", is_flag=True, help="List every endpoint that was passed over, not only a few of each reason.")
@SERVER
@TIMEOUT
@credentials_flags
@OUTPUT
def explain(trace_id: str, every: bool, server: str, timeout: float, credentials: Credentials, output: str) -> None:
    """Tell again why a request went where it went, on the catalogue that served then.

    Exit code 0 if it was decided, 1 if it was refused.
    """
    with _asking(server, timeout, credentials) as client:
        answer = client.explain(ExplainRequest(trace_id=trace_id))
    explanation = answer.explanation
    if output == "json":
        click.echo(json.dumps(to_json(answer), indent=2, ensure_ascii=False))
    else:
        render.explanation(explanation, every=every)
    sys.exit(DECIDED if explanation.HasField("decision") else REFUSED)


@contextmanager
def _asking(server: str, timeout: float, credentials: Credentials) -> Iterator[Client]:
    """A client of the server, whose errors are those of the command line."""
    try:
        with Client(server, timeout, credentials) as client:
            yield client
    except Unreachable as error:
        raise ServerUnreachable(str(error)) from None
    except (Rejected, Unprotected) as error:
        raise UsageProblem(str(error)) from None


def _query(*, policy: str, outcome: str, endpoint: str, since: str | None, until: str | None) -> ListTracesRequest:
    problems: list[Problem] = []
    query = ListTracesRequest(
        policy_id=policy,
        outcome=outcome,
        endpoint_id=endpoint,
        since=_instant(since, "--since", problems),
        until=_instant(until, "--until", problems),
    )
    if problems:
        raise UsageProblem("\n".join(map(str, problems)))
    return query


def _instant(text: str | None, name: str, problems: list[Problem]) -> Timestamp | None:
    at = None if text is None else Instant().read(text, name, problems)
    return None if at is None else Timestamp(seconds=at // 1000, nanos=at % 1000 * 1_000_000)


def _listed(trace: Trace) -> dict[str, Any]:
    """A trace as lists give it: without its reports, which is not to say that there are none."""
    shown = to_json(trace)
    del shown["reports"]
    return shown


def _whole(client: Client, trace: Trace) -> dict[str, Any] | None:
    """The same with its reports; None where it has gone since it was listed."""
    try:
        return to_json(client.trace(trace.trace_id))
    except NotFound:
        return None
