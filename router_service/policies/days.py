"""Calendar days of a time zone: which one an instant is in, and when it ends (23, 24 or 25 hours after it began)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec


class Day(msgspec.Struct, frozen=True):
    """A day by its date (2026-11-30), and the instants (ms) at which it begins and the next one does."""

    date: str
    begins_at: int
    ends_at: int


class Calendar:
    """Tells days; remembers the one that was asked for last in each time zone, as many as policies name."""

    def __init__(self) -> None:
        self._last: dict[str, Day] = {}

    def day_of(self, time_zone: str, now: int) -> Day:
        """The day of an instant (ms) in a time zone by its IANA name; empty is UTC."""
        day = self._last.get(time_zone)
        if day is None or not day.begins_at <= now < day.ends_at:
            day = self._last[time_zone] = _day(time_zone, now)
        return day


def _day(time_zone: str, now: int) -> Day:
    zone = _zone(time_zone)
    date = datetime.fromtimestamp(now / 1000, UTC).astimezone(zone).date()
    first = datetime(date.year, date.month, date.day, tzinfo=zone)
    after = date + timedelta(days=1)
    last = datetime(after.year, after.month, after.day, tzinfo=zone)
    return Day(date.isoformat(), _milliseconds(first), _milliseconds(last))


@lru_cache(maxsize=1024)
def _zone(time_zone: str) -> ZoneInfo:
    return ZoneInfo(time_zone or "UTC")


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * 1000
