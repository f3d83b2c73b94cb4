"""Effects: what a reported attempt means for its endpoint, as one table (docs/reliability.md, Failure classes)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from router_service.domain.report import ReportedAttempt
from router_service.domain.thresholds import DAY_MS, Thresholds
from router_service.health.error_codes import CREDENTIALS, FINAL, MODEL, QUOTA, RATE, REQUEST, subject_of

SUCCESS = "success"
FAILURE = "failure"
INVALID = "invalid"
SUPPRESSED = "suppressed"
NONE = "none"
EFFECTS = (SUCCESS, FAILURE, INVALID, SUPPRESSED, NONE)

RETRY_AFTER_MAX_MS = DAY_MS
"""How long a Retry-After is obeyed at most: long enough for a daily quota, and a wrong date does not last for ever."""

_WITHOUT_ANSWER = frozenset((None, 4))  # no status, or gRPC's DEADLINE_EXCEEDED, which the caller's own side makes


class Effect(msgspec.Struct, frozen=True):
    """What counts against the endpoint, one of EFFECTS, and for how long (ms) no decision lists it because of that."""

    kind: str
    suppress_for_ms: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """An attempt as the rows look at it; `subject` is what its error code speaks of, `need_ms` None where unknown."""

    attempt: ReportedAttempt
    outcome: str
    need_ms: int | None
    subject: str


def _is_no_success(seen: Seen) -> bool:
    """A success by its class that was cancelled, or whose status says otherwise."""
    status = seen.attempt.status_code
    return seen.outcome == "cancelled" if status is None else 1 <= status <= 16 or status >= 400


def _is_own_time_out(seen: Seen) -> bool:
    """Given up before the endpoint could have answered; one that failed earlier than that is a failure all the same.

    A tenth is left for clocks and timers that are not exact.
    """
    one, need = seen.attempt, seen.need_ms
    if one.status_code not in _WITHOUT_ANSWER or one.timeout_ms is None or need is None or one.timeout_ms >= need:
        return False
    return one.latency_ms is None or 10 * one.latency_ms >= 9 * one.timeout_ms


def _may_be_quota(seen: Seen) -> bool:
    """What is final and has no code, or one of some quota that is not known by name."""
    return not seen.attempt.error_code or "quota" in seen.attempt.error_code.lower()


# How long the endpoint is kept out, of the thresholds and its Retry-After (ms, None where it told none).
Pause = Callable[[Thresholds, int | None], int]


def _not_at_all(_thresholds: Thresholds, _told: int | None) -> int:
    return 0


def _as_told(_thresholds: Thresholds, told: int | None) -> int:
    return told or 0


def _rate_limited(thresholds: Thresholds, told: int | None) -> int:
    return thresholds.rate_limited_ms if told is None else told


def _refused(thresholds: Thresholds, told: int | None) -> int:
    return max(thresholds.refused_ms, told or 0)


@dataclass(frozen=True, slots=True)
class Row:
    """What was seen, and what it means.

    It matches an attempt of one of its `classes` (empty is a success) with one of its `statuses`, HTTP's or gRPC's,
    whose error code speaks of `subject`, and for which `when` holds; None looks at nothing.
    """

    about: str
    effect: str
    classes: frozenset[str] | None = None
    statuses: frozenset[int] | None = None
    subject: str | None = None
    when: Callable[[Seen], bool] | None = None
    pause: Pause = _not_at_all

    def matches(self, seen: Seen) -> bool:
        """Whether all that it looks at is so."""
        return (
            (self.classes is None or seen.attempt.failure_class in self.classes)
            and (self.statuses is None or seen.attempt.status_code in self.statuses)
            and (self.subject is None or seen.subject == self.subject)
            and (self.when is None or self.when(seen))
        )


_SUCCESS = frozenset(("",))
_TRANSIENT = frozenset(("transient",))
_UNANSWERED = frozenset(("transient", "ambiguous"))
_PERMANENT = frozenset(("permanent",))
_REFUSED = frozenset(("permanent", "incompatible"))
_ANSWERED = frozenset(("transient", "permanent", "incompatible"))
_INVALID = frozenset(("invalid_response",))

# gRPC's codes 0 to 16 stand beside the HTTP statuses that they mean, since no HTTP status is as small.
_PAYMENT = frozenset((402,))
_RATE = frozenset((429, 8))
_CREDENTIALS = frozenset((401, 403, 16, 7))
_NOT_FOUND = frozenset((404, 5, 12))

ROWS = (
    Row("cancelled by the caller, or no success by its status", NONE, _SUCCESS, when=_is_no_success),
    Row("a success", SUCCESS, _SUCCESS),
    Row("an answer that failed acceptance", INVALID, _INVALID),
    Row("marked final by the backend (x-should-retry: false)", NONE, frozenset(("permanent",)), subject=FINAL),
    Row("a time-out shorter than the endpoint's need", NONE, _UNANSWERED, when=_is_own_time_out),
    Row("credit or quota used up, by its code", SUPPRESSED, _ANSWERED, subject=QUOTA, pause=_refused),
    Row("payment required", SUPPRESSED, _ANSWERED, _PAYMENT, pause=_refused),
    Row("rate limit", SUPPRESSED, _TRANSIENT, _RATE, pause=_rate_limited),
    Row("rate limit, by its code", SUPPRESSED, _TRANSIENT, subject=RATE, pause=_rate_limited),
    Row("not reached, lost, broken off or ill", FAILURE, _UNANSWERED, pause=_as_told),
    Row("the request's own content, length or parameters, by its code", NONE, _REFUSED, subject=REQUEST),
    Row("credentials refused, by its code", SUPPRESSED, _REFUSED, subject=CREDENTIALS, pause=_refused),
    Row("model or deployment not there, by its code", SUPPRESSED, _REFUSED, subject=MODEL, pause=_refused),
    Row("quota used up", SUPPRESSED, _PERMANENT, _RATE, when=_may_be_quota, pause=_refused),
    Row("credentials refused", SUPPRESSED, _PERMANENT, _CREDENTIALS, pause=_refused),
    Row("model or deployment not there", SUPPRESSED, frozenset(("incompatible",)), _NOT_FOUND, pause=_refused),
    Row("the request's own, or final by the endpoint's word", NONE),
)


def effect_of(attempt: ReportedAttempt, outcome: str, need_ms: int | None, thresholds: Thresholds) -> Effect:
    """The effect of an attempt: that of the first row that matches it.

    `outcome` is its report's, which may be empty; `need_ms` is what the endpoint needs for the decision's request
    (docs/reliability.md, Time budget), None where that is not known.
    """
    seen = Seen(attempt, outcome, need_ms, subject_of(attempt.error_code))
    row = next(row for row in ROWS if row.matches(seen))
    return Effect(row.effect, min(row.pause(thresholds, attempt.retry_after_ms), RETRY_AFTER_MAX_MS))
