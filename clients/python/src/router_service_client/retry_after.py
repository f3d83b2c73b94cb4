"""How long an endpoint asks to be left alone: Retry-After in all its forms, in milliseconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from fractions import Fraction
from math import ceil

MAX_MS = 24 * 3600 * 1000
"""The service obeys none beyond a day, and a wrong date must not last for ever."""

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
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0, round((moment - now).total_seconds() * 1000))
