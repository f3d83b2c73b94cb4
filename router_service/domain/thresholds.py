"""Thresholds: when an endpoint is left out, for how long, and what brings it back (docs/reliability.md, Circuits)."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping

import msgspec

from router_service.domain.fields import Field, Table, read_fields, table
from router_service.domain.problems import InvalidValue, Problem
from router_service.domain.readers import Real, Whole

DAY_MS = 24 * 3600 * 1000

_IN_A_ROW = Whole(1, 1000)
_ATTEMPTS = Whole(1, 10**6, "attempts")
_SHARE = Real(0, 1, above_least=True)
_PLACES = Whole(1, 100)
_TIME = Whole(1, DAY_MS, "milliseconds")
_PAUSE = Whole(0, DAY_MS, "milliseconds")

FIELDS: Table = table(
    Field("failures_in_row", _IN_A_ROW, "failures in a row that open a circuit"),
    Field("failure_share", _SHARE, "share of failures, above 0 up to 1, that opens a circuit"),
    Field("least_attempts", _ATTEMPTS, "attempts within window_ms from which failure_share counts"),
    Field("window_ms", Whole(1000, 600_000, "milliseconds"), "how long an attempt counts for both shares"),
    Field("invalid_in_row", _IN_A_ROW, "answers in a row that fail acceptance and so open a circuit"),
    Field("invalid_share", _SHARE, "share of answers failing acceptance, above 0 up to 1, that opens a circuit"),
    Field("invalid_least", _ATTEMPTS, "attempts within window_ms from which invalid_share counts"),
    Field("open_ms", _TIME, "how long a circuit stays open at first; each failed probe doubles it"),
    Field("open_max_ms", _TIME, "how long a circuit stays open at most"),
    Field("probes", _PLACES, "decisions that may list a half-open endpoint at a time"),
    Field("probe_ms", _TIME, "after how long without a report such a decision frees its place"),
    Field("good_probes", _PLACES, "successful probes in a row that close a circuit"),
    Field("rate_limited_ms", _PAUSE, "how long a rate limit without Retry-After keeps an endpoint out; 0 not at all"),
    Field("refused_ms", _PAUSE, "how long lack of credit, credentials or model keeps an endpoint out; 0 not at all"),
    Field("half_life_ms", Whole(1000, DAY_MS, "milliseconds"), "after how long an observation weighs half as much"),
    Field("least_observations", _ATTEMPTS, "observations from which an observed figure is used"),
    Field("forget_ms", _TIME, "how long without a report until the catalogue's own figures hold again"),
)

# The first is never less than the second: a circuit opens for open_ms before any doubling, and the window is forgotten
# with everything else.
_AT_LEAST = (("open_max_ms", "open_ms"), ("forget_ms", "window_ms"))


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """The thresholds of all circuits and observed figures, times in ms; `read` makes one of raw values.

    Raises InvalidValue where one contradicts another, so a value that exists can be obeyed.
    """

    failures_in_row: int = 5
    failure_share: float = 0.5
    least_attempts: int = 20
    window_ms: int = 60_000
    invalid_in_row: int = 10
    invalid_share: float = 0.5
    invalid_least: int = 20
    open_ms: int = 30_000
    open_max_ms: int = 300_000
    probes: int = 1
    probe_ms: int = 10_000
    good_probes: int = 2
    rate_limited_ms: int = 10_000
    refused_ms: int = 300_000
    half_life_ms: int = 300_000
    least_observations: int = 5
    forget_ms: int = 1_800_000

    def __post_init__(self) -> None:
        problems = list(_contradictions(msgspec.structs.asdict(self), FIELDS))
        if problems:
            raise InvalidValue("circuits", problems)

    @classmethod
    def read(cls, raw: Mapping[str, object]) -> Thresholds:
        """The defaults with what `raw` gives by names of `FIELDS`. Raises InvalidValue with every problem at once."""
        values, problems = read_fields(FIELDS, raw)
        wrong = {problem.field for problem in problems}
        problems += _contradictions(_DEFAULTS | values, values, wrong)
        if problems:
            raise InvalidValue("circuits", problems)
        return cls(**values)


def _contradictions(values: Mapping[str, int], given: Container[str], wrong: Collection[str] = ()) -> Iterator[Problem]:
    """What does not fit together, told at the field that was given; fields that are `wrong` by themselves aside."""
    for greater, lesser in _AT_LEAST:
        most, least = values[greater], values[lesser]
        if most >= least or greater in wrong or lesser in wrong:
            continue
        if greater in given:
            yield Problem(greater, f"{most} is less than {lesser}, which is {least}", f"use at least {least}")
        else:
            yield Problem(lesser, f"{least} is more than {greater}, which is {most}", f"raise {greater} too")


_DEFAULTS = msgspec.structs.asdict(Thresholds())
