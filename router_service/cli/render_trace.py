"""Traces for a person: one with what was asked and reported, or many as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from router_service.cli.render import decision, new_console, new_table, refusal
from router_service.wire.messages import Attempt, Decision, Refusal, Report, Timestamp, Trace, given

_WIDE = 112  # columns that all of a list takes beside each other


def trace(message: Trace) -> None:
    """The answer as it was given, then what was asked and what was reported."""
    if message.HasField("decision"):
        decision(message.decision, workload=message.workload)
    else:
        refusal(message.refusal, workload=message.workload)
    console = new_console()
    console.print()
    _fields(console, "Trace", _facts(message))
    asked = {name: _written(value) for name, value in given(message.request).items()}
    under = f" under workload {message.workload}" if message.workload else ""
    _fields(console, f"Asked{under}", asked or {"": "nothing but what every request asks"})
    if not message.reports:
        console.print("Nothing was reported.")
    for number, report in enumerate(message.reports, start=1):
        console.print(_report(number, report))


def traces(messages: Iterable[Trace]) -> None:
    """One a row, in the order in which they come; where all does not fit beside each other, on two lines."""
    console = new_console()
    table = new_table("")
    table.title = None
    table.add_column("time (UTC)", no_wrap=True)
    wide = console.width >= _WIDE
    for name in ("outcome", "policy", "model", "first candidate") if wide else ():
        table.add_column(name, overflow="fold")
    table.add_column("trace id", no_wrap=wide, overflow="fold")
    for one in messages:
        decided = one.HasField("decision")
        outcome = Text(one.outcome, style="" if decided else "red")
        model = one.request.model or "auto"
        first = one.decision.candidates[0].endpoint_id if decided else "–"
        if wide:
            table.add_row(_time(one.decided_at), outcome, one.policy_id, model, first, one.trace_id)
        else:
            table.add_row(
                _time(one.decided_at),
                Text.assemble(one.trace_id, "\n", outcome, f", policy {one.policy_id}: {model} → {first}"),
            )
    console.print(table)


def _facts(message: Trace) -> dict[str, str]:
    result: Decision | Refusal = message.decision if message.HasField("decision") else message.refusal
    facts = {
        "trace_id": message.trace_id,
        "decided_at": f"{_time(message.decided_at)} UTC",
        "kept_until": f"{_time(message.kept_until)} UTC (retention {result.retention})",
        "catalog_version": message.catalog_version,
        "caller": message.caller,
        "data_class": message.data_class,
        "operation_id": message.operation_id,
    }
    if message.HasField("budget_max_cost"):
        limit = f"{message.budget_max_cost:.6f}".rstrip("0").rstrip(".")
        facts["budget_max_cost"] = f"{limit} was left of the day's budget"
    return {name: fact for name, fact in facts.items() if fact}


def _fields(console: Console, title: str, fields: dict[str, str]) -> None:
    table = new_table(title)
    table.show_header = False
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in fields.items():
        table.add_row(name, Text(value))
    console.print(table)
    console.print()


def _report(number: int, report: Report) -> Table:
    """An attempt a row; all figures of it in words, so that no width of a terminal cuts any."""
    by = f", by {report.caller}" if report.caller else ""
    table = new_table(f"Report {number}: {report.outcome}{by}")
    table.show_header = False
    table.add_column(overflow="fold", min_width=4)
    table.add_column(overflow="fold", min_width=40)
    for one in report.attempts:
        told = (
            _came_of(one),
            f"began {_time(one.started_at)}" if one.HasField("started_at") else "",
            _told(one, "latency_ms", "took {} ms"),
            _told(one, "time_to_first_token_ms", "first token after {} ms"),
            _told(one, "input_tokens", "{} tokens in"),
            _told(one, "output_tokens", "{} out"),
            _told(one, "timeout_ms", "time-out {} ms"),
            _told(one, "retry_after_ms", "asked to wait {} ms"),
            f"cost {one.cost:.12g}" if one.HasField("cost") else "",
        )
        table.add_row(f"{one.attempt_id} {one.endpoint_id}", "; ".join(part for part in told if part))
    return table


def _came_of(one: Attempt) -> str:
    """How the attempt ended: its class, status, error, finish reason and what acceptance said, as far as told."""
    status = str(one.status_code) if one.HasField("status_code") else ""
    parts = (one.failure_class or "success", status, one.error_code, one.finish_reason, one.validation_result)
    return ", ".join(part for part in parts if part)


def _told(one: Attempt, name: str, text: str) -> str:
    return text.format(getattr(one, name)) if one.HasField(name) else ""


def _written(value: Any) -> str:
    """A field's value as a person writes it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, str | int | float) else ", ".join(value)


def _time(instant: Timestamp) -> str:
    """To the second."""
    return f"{instant.ToDatetime():%Y-%m-%d %H:%M:%S}"
