"""What a failed attempt means: its class, what comes next, and what its report tells, by failure_classes.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from router_service_client.error_bodies import Told, found, parsed, told, told_status
from router_service_client.retry_after import retry_after_ms
from router_service_client.seen import GRPC, HTTP, Seen

SAME_ONCE = "same_once"
NEXT = "next"
NEXT_ELSE_SAME = "next_else_same"
NEXT_IF_REPLAYABLE = "next_if_replayable"
NEXT_LARGER_CONTEXT = "next_larger_context"
STOP = "stop"


class Verdict(NamedTuple):
    """What a failed attempt means.

    Attributes:
        failure_class: `transient`, `ambiguous`, `permanent`, `incompatible`, `invalid_response`; empty where the caller
            cancelled.
        then: `same_once`, `next`, `next_else_same`, `next_if_replayable`, `next_larger_context` or `stop`.
        of: what a permanent failure is of, `endpoint` or `request`.
        effect: what it means for the endpoint: `failure`, `suppressed`, `invalid` or `none`. The service has the last
            word: a time-out shorter than the endpoint's need counts against nothing.
        status_code: the status to report, HTTP's or gRPC's; None where nothing answered.
        error_code: the code to report.
        retry_after_ms: how long the endpoint asks to be left alone.
    """

    failure_class: str
    then: str
    of: str
    effect: str
    status_code: int | None
    error_code: str
    retry_after_ms: int | None

    def reported(self) -> dict[str, Any]:
        """The fields of a report's attempt; None is "not told"."""
        names = ("failure_class", "status_code", "error_code", "retry_after_ms")
        return {name: getattr(self, name) for name in names}


@cache
def table() -> Mapping[str, Any]:
    """The table of failure classes, the same for every client library (clients/conformance)."""
    text = resources.files(__package__).joinpath("failure_classes.json").read_text("utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def classify(seen: Seen, now: datetime | None = None) -> Verdict:
    """What was seen, by the first row of the table that matches it; `now` is what a Retry-After's date is told from."""
    rules = table()
    kind, status, reported = seen.kind, seen.status, seen.status
    body = parsed(seen.body)
    if kind == GRPC:
        kind, status, reported = _of_grpc(seen, rules)
        body = {"error": body}
    elif kind == HTTP and status is not None and 200 <= status < 300:
        status = reported = told_status(body, rules["status_places"]) or status
    elif kind != HTTP:
        status, reported, body = None, rules["kind_status"].get(kind), None
    headers = {name.lower(): value for name, value in seen.headers.items()}
    what = Told("", "") if status is None else told(status, headers, body, rules)
    final = headers.get("x-should-retry", "").strip().lower() == "false"
    row = next(row for row in rules["rows"] if _matches(row, kind, status, what.subject, final=final))
    delay = next(found(body, rules["retry_delay_places"]), None)
    return Verdict(
        failure_class=row["class"],
        then=row["then"],
        of=row["of"],
        effect=row["effect"],
        status_code=reported,
        error_code=row.get("report") or what.error_code,
        retry_after_ms=None if status is None else retry_after_ms(headers, delay, now or datetime.now(UTC)),
    )


def _of_grpc(seen: Seen, rules: Mapping[str, Any]) -> tuple[str, int | None, int]:
    """The kind, the HTTP status that a gRPC status stands for, and its own number, which is reported."""
    number = rules["grpc_numbers"].get(seen.code, rules["grpc_numbers"]["UNKNOWN"])
    for row in rules["grpc_kinds"]:
        if row["code"] == seen.code and row.get("sent", seen.sent) == seen.sent:
            return row["kind"], None, number
    return HTTP, rules["grpc"].get(seen.code, rules["grpc"]["UNKNOWN"]), number


def _matches(row: Mapping[str, Any], kind: str, status: int | None, subject: str, *, final: bool) -> bool:
    return (
        ("kinds" not in row or kind in row["kinds"])
        and ("statuses" not in row or status in row["statuses"])
        and ("subject" not in row or subject == row["subject"])
        and ("final" not in row or final)
    )
