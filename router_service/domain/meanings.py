"""Readers of what has a meaning of its own: instants, languages, countries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import ClassVar

from router_service.domain.languages import primary_subtag
from router_service.domain.places import country_problem
from router_service.domain.problems import Problem
from router_service.domain.readers import TEXT_MAX, Json, shown
from router_service.domain.text import fold, trim

_INSTANT_MAX = 253_402_300_799_999  # the last millisecond of the year 9999
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant as integer milliseconds since the epoch: given so, as a datetime, or as ISO 8601 text.

    A date alone is its first moment in UTC; a time of day needs its zone, so that no two machines differ.
    """

    kind: ClassVar[str] = "text"

    def read(self, raw: object, place: str, problems: list[Problem]) -> int | None:
        cure = "write 2027-01-31, or 2027-01-31T12:00:00Z with a zone"
        if type(raw) is int and 0 <= raw <= _INSTANT_MAX:
            return raw
        moment: datetime | None = None
        if isinstance(raw, str):
            try:
                text = trim(raw)
                moment = datetime.fromisoformat(text)
                if moment.tzinfo is None and len(text) <= len("2027-01-31"):
                    moment = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
            except ValueError:
                moment = None
        if moment is None or moment.tzinfo is None or not 0 <= (at := _milliseconds(moment)) <= _INSTANT_MAX:
            problems.append(Problem(place, f"{shown(raw)} is no instant", cure))
            return None
        return at

    def schema(self) -> Json:
        return {"type": "string", "description": "a date, or an ISO 8601 instant with its zone"}


@dataclass(frozen=True, slots=True)
class Language:
    """A language tag, kept as its primary subtag; where `subtag_only`, nothing may follow that."""

    kind: ClassVar[str] = "text"
    subtag_only: bool = False

    def read(self, raw: object, place: str, problems: list[Problem]) -> str | None:
        tag = fold(raw) if isinstance(raw, str) else None
        primary = primary_subtag(tag) if tag is not None and len(tag) <= TEXT_MAX else None
        if primary is None or (self.subtag_only and (not primary or "-" in str(tag) or "_" in str(tag))):
            cure = "use a primary subtag such as de" if self.subtag_only else "use a BCP-47 tag such as de or pt-BR"
            problems.append(Problem(place, f"{shown(raw)} is no language", cure))
            return None
        return primary

    def schema(self) -> Json:
        return {"type": "string", "pattern": "^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$"}


@dataclass(frozen=True, slots=True)
class Country:
    """An ISO 3166-1 alpha-2 code in any case, or EU; canonical in upper case."""

    kind: ClassVar[str] = "text"

    def read(self, raw: object, place: str, problems: list[Problem]) -> str | None:
        code = fold(raw).upper() if isinstance(raw, str) else ""
        cure = country_problem(code)
        if cure:
            problems.append(Problem(place, f"{shown(raw)} is no country", cure))
            return None
        return code

    def schema(self) -> Json:
        return {"type": "string", "pattern": "^[A-Za-z]{2}$"}


def _milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def shown_instant(instant: int) -> str:
    """An instant in ms as people read it, in UTC: `2026-11-30T12:00:00Z`, with milliseconds where it has some."""
    text = (_EPOCH + timedelta(milliseconds=instant)).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z").replace(".000Z", "Z")
