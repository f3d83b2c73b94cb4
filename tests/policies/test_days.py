"""Calendar days: of any zone, with 23, 24 or 25 hours, whatever the clock does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from router_service.policies.days import Calendar

HOUR = 3_600_000


def _at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize(
    ("zone", "now", "date", "hours"),
    [
        ("", "2026-11-30T12:00:00+00:00", "2026-11-30", 24),
        ("UTC", "2026-11-30T23:59:59.999+00:00", "2026-11-30", 24),
        ("Europe/Berlin", "2026-03-29T12:00:00+02:00", "2026-03-29", 23),
        ("Europe/Berlin", "2026-10-25T12:00:00+01:00", "2026-10-25", 25),
        ("Europe/Berlin", "2026-10-25T23:30:00+01:00", "2026-10-25", 25),
        ("America/New_York", "2026-11-01T00:30:00-04:00", "2026-11-01", 25),
        ("Asia/Kolkata", "2026-11-30T18:29:59+00:00", "2026-11-30", 24),
        ("Asia/Kolkata", "2026-11-30T18:30:00+00:00", "2026-12-01", 24),
        ("Pacific/Kiritimati", "2026-11-30T10:00:00+00:00", "2026-12-01", 24),
    ],
)
def test_days(zone: str, now: str, date: str, hours: int) -> None:
    day = Calendar().day_of(zone, _at(now))
    assert day.date == date
    assert day.ends_at - day.begins_at == hours * HOUR
    assert day.begins_at <= _at(now) < day.ends_at


def test_the_boundary_millisecond() -> None:
    calendar = Calendar()
    today = calendar.day_of("Europe/Berlin", _at("2026-11-30T12:00:00+01:00"))
    assert calendar.day_of("Europe/Berlin", today.ends_at - 1) == today
    tomorrow = calendar.day_of("Europe/Berlin", today.ends_at)
    assert tomorrow.date == "2026-12-01"
    assert tomorrow.begins_at == today.ends_at


def test_a_clock_that_steps_back_finds_its_day_again() -> None:
    calendar = Calendar()
    noon = _at("2026-11-30T12:00:00+00:00")
    dates = [calendar.day_of("UTC", noon + step * 12 * HOUR).date for step in (0, 1, 0, -1, -2, 0)]
    assert dates == ["2026-11-30", "2026-12-01", "2026-11-30", "2026-11-30", "2026-11-29", "2026-11-30"]


def test_every_hour_of_a_year_is_in_one_day_of_every_zone() -> None:
    start = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)
    for zone in ("Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca"):
        calendar, last = Calendar(), None
        for hour in range(366 * 24):
            day = calendar.day_of(zone, start + hour * HOUR)
            assert day.begins_at <= start + hour * HOUR < day.ends_at
            assert last is None or day == last or day.begins_at == last.ends_at
            last = day
