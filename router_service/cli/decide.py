"""`router-service decide`: who wins, the fallbacks, and what was passed over."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from router_service.cli import render
from router_service.cli.asking import Asked
from router_service.cli.connecting import credentials_flags
from router_service.cli.options import (
    CATALOG,
    DATA_CLASS,
    DECIDED,
    OPERATION_ID,
    OUTPUT,
    REFUSED,
    SERVER,
    TIMEOUT,
    WORKLOAD,
    flag,
    request_flags,
)
from router_service.wire.credentials import Credentials
from router_service.wire.messages import to_json


@click.command()
@CATALOG
@SERVER
@TIMEOUT
@credentials_flags
@OUTPUT
@flag("--policy", default="", help="The policy to decide under.  [default: the catalogue's default]")
@WORKLOAD
@DATA_CLASS
@OPERATION_ID
@flag("--now", metavar="INSTANT", help="Decide as of this instant (with a catalogue only).")
@request_flags
def command(
    catalog: Path | None,
    server: str | None,
    timeout: float,
    output: str,
    policy: str,
    workload: str,
    data_class: str,
    operation_id: str,
    now: str | None,
    credentials: Credentials,
    **request: Any,
) -> None:
    """Decide where a request may go and in which order to fall back.

    Exit code 0 if it may go somewhere, 1 if it is refused.
    """
    asked = Asked(catalog, server, timeout, policy, now, request, data_class, operation_id, workload, credentials)
    answer = asked.decide()
    if output == "json":
        click.echo(json.dumps(to_json(answer), indent=2, ensure_ascii=False))
    elif answer.HasField("decision"):
        render.decision(answer.decision, workload=workload)
    else:
        render.refusal(answer.refusal, workload=workload)
    sys.exit(DECIDED if answer.HasField("decision") else REFUSED)
