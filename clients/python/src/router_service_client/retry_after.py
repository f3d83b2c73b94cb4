"""How long an endpoint asks to be left alone: Retry-After in all its forms, in milliseconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from math import ceil

MAX_MS = 24 * 3600 * 1000
"""The service obeys none beyond a day, and a wrong date must not last for ever."""

_TIME = "(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
# An HTTP date as it is written now, and the two forms that a recipient has to read as well (RFC 9110, 5.6.7).
_DATES = tuple(
    re.compile(form)
    for form in (
        f"[A-Z][a-z]{{2}}, (?P<day>[0-9]{{2}}) (?P<month>[A-Z][a-z]{{2}}) (?P<year>[0-9]{{4}}) {_TIME} GMT",
        f"[A-Z][a-z]{{5,8}}, (?P<day>[0-9]{{2}})-(?P<month>[A-Z][a-z]{{2}})-(?P<year>[0-9]{{2}}) {_TIME} GMT",
        f"[A-Z][a-z]{{2}} (?P<month>[A-Z][a-z]{{2}}) (?P<day>[ 0-9][0-9]) {_TIME} (?P<year>[0-9]{{4}})",
    )
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?", re.ASCII)


def retry_after_ms(headers: Mapping[str, str], delay: object, now: datetime) -> int | None:
    """What was asked for, rounded up to whole milliseconds and held to a day; None where nothing can be read.

    `headers` have small names. `retry-after-ms` goes first, then `retry-after` (seconds, or an HTTP date as seen from
    `now`), then `delay`, the retryDelay of a google.rpc.RetryInfo (`34.5s`).
    """
    written = str(delay)
    for told in (
        _milliseconds(headers.get("retry-after-ms", ""), 1),
        _milliseconds(headers.get("retry-after", ""), 1000),
        _until(headers.get("retry-after", ""), now),
        _milliseconds(written[:-1], 1000) if written.endswith("s") else None,
    ):
        if told is not None:
            return min(told, MAX_MS)
    return None


def _milliseconds(text: str, unit: int) -> int | None:
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return None
    return ceil(Fraction(text) * unit)


def _until(text: str, now: datetime) -> int | None:
    found = next((match for form in _DATES if (match := form.fullmatch(text.strip()))), None)
    if found is None or found["month"] not in _MONTHS:
        return None
    day, hour, minute, second = (int(found[name]) for name in ("day", "hour", "minute", "second"))
    month = _MONTHS.index(found["month"]) + 1
    try:
        moment = datetime(_full_year(found["year"], now), month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return max(0, round((moment - now).total_seconds() * 1000))


def _full_year(digits: str, now: datetime) -> int:
    """A year of two digits is of this century, unless that is more than 50 years ahead (RFC 9110, 5.6.7)."""
    if len(digits) == 4:
        return int(digits)
    year = now.astimezone(UTC).year
    near = year - year % 100 + int(digits)
    return near - 100 if near > year + 50 else near
