"""What an attempt came to, without its body, is what the one table of failure classes says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from router_service.wire.envoy.seen import RETRIABLE_STATUSES, answered, retry_after_ms

TABLE: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "clients" / "conformance" / "failure_classes.json").read_text("utf-8")
)
NOW = 1_800_000_000_000  # 2027-01-15T08:00:00Z


def row_of(status: int) -> dict[str, Any]:
    """The first row that looks at nothing but the status."""
    beside = ("kinds", "subject", "final")
    rows = (row for row in TABLE["rows"] if not any(name in row for name in beside))
    return next(row for row in rows if status in row.get("statuses", [status]))


@pytest.mark.parametrize("status", range(300, 600))
def test_each_status_has_its_class_and_is_followed_by_the_next_endpoint_where_that_may_answer(status: int) -> None:
    row = row_of(status)
    assert answered(status, {}, NOW) == {"status_code": status, "failure_class": row["class"]}
    assert (status in RETRIABLE_STATUSES) == (row["then"] != "stop")


def test_an_answer_that_is_final_by_its_own_word() -> None:
    assert answered(503, {"x-should-retry": " False"}, NOW)["error_code"] == next(
        row["report"] for row in TABLE["rows"] if row.get("final")
    )


def test_a_success_has_no_class() -> None:
    assert answered(204, {"retry-after": "7"}, NOW) == {"status_code": 204}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("7", 7000),
        (" 0 ", 0),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60_000),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0),
        ("99999999999999999999", 2**32 - 1),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 2**32 - 1),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(told: str, expected: int | None) -> None:
    assert retry_after_ms(told, NOW) == expected
