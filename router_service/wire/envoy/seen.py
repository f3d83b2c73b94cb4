"""What an attempt came to, as its report tells it: by its status and headers, since the body stays in Envoy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from router_service.domain.endpoint import MILLISECONDS

CANCELLED_STATUS = 499
"""The status of a call that its own client gave up."""
RETRY_AFTER, SHOULD_RETRY = "retry-after", "x-should-retry"
LOGGED_HEADERS = (RETRY_AFTER, SHOULD_RETRY)
"""The headers of a response that say what it came to."""

_TRANSIENT, _AMBIGUOUS, _PERMANENT, _INCOMPATIBLE = "transient", "ambiguous", "permanent", "incompatible"
# By the status alone. What only a body tells (a quota behind a 429, a context length behind a 400) is not seen here.
_BY_STATUS = {
    **dict.fromkeys((408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529), _TRANSIENT),
    **dict.fromkeys((401, 402, 403), _PERMANENT),
    404: _INCOMPATIBLE,
}
RETRIABLE_STATUSES = tuple(sorted(_BY_STATUS))
"""The statuses after which the next endpoint may answer: all but those that are the request's own."""
_FINAL_CODE = "x_should_retry_false"

# Parts of a report's attempt.
NOT_REACHED: dict[str, Any] = {"failure_class": _TRANSIENT}
LOST: dict[str, Any] = {"failure_class": _AMBIGUOUS}
GIVEN_UP: dict[str, Any] = {"status_code": CANCELLED_STATUS}


def answered(status: int, headers: Mapping[str, str], now: int) -> dict[str, Any]:
    """The part of an attempt that ended with an answer; `now` (ms) is what the date of a Retry-After is told from."""
    if 200 <= status < 300:  # a redirect, which nobody follows, is no answer
        return {"status_code": status}
    told: dict[str, Any] = {"status_code": status, "failure_class": _BY_STATUS.get(status, _PERMANENT)}
    if headers.get(SHOULD_RETRY, "").strip().lower() == "false":
        told |= {"failure_class": _PERMANENT, "error_code": _FINAL_CODE}
    pause = retry_after_ms(headers.get(RETRY_AFTER, ""), now)
    return told if pause is None else told | {"retry_after_ms": pause}


def retry_after_ms(text: str, now: int) -> int | None:
    """How long an answer asks to be left alone: whole seconds, or until a date of HTTP; None where it does not say."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return min(int(text[:10]) * 1000, MILLISECONDS.most)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    left = (until - datetime.fromtimestamp(now / 1000, UTC)) / timedelta(milliseconds=1)
    return min(max(0, int(left)), MILLISECONDS.most)
