"""Window and runs: what a circuit looks at, by when attempts ended and began (docs/reliability.md, Circuits).

All instants are ms. What lies ahead of `now` was noted by a clock that has been set back since, and is read as of now.
"""

from __future__ import annotations

import msgspec

BUCKET_MS = 1000


class Run(msgspec.Struct, frozen=True, array_like=True):
    """What went wrong in a row, by when each began, oldest first, since the last that was good, at `good_at`.

    Instants rather than a number, so that a report that comes late finds its place: one failure of an hour ago, told
    after a success of now, is not the next in a row.
    """

    good_at: int = 0
    bad: tuple[int, ...] = ()

    def with_good(self, at: int, now: int) -> Run:
        """The run after something good at `at`: only what went wrong later is left of it."""
        return Run(max(at, min(self.good_at, now)), tuple(one for one in self._bad(now) if one > at))

    def with_bad(self, at: int, now: int, most: int) -> Run:
        """The run with one more at `at`, unless that was before the last good one; it keeps the latest `most`."""
        good_at = min(self.good_at, now)
        return Run(good_at, self._bad(now) if at < good_at else tuple(sorted((*self._bad(now), at)))[-most:])

    def _bad(self, now: int) -> tuple[int, ...]:
        return tuple(min(one, now) for one in self.bad)


class Bucket(msgspec.Struct, frozen=True, array_like=True):
    """The attempts that ended in one second of the clock (`second` since the epoch)."""

    second: int
    attempts: int = 0
    failures: int = 0
    invalid: int = 0

    def __add__(self, other: Bucket) -> Bucket:
        return Bucket(
            self.second,
            self.attempts + other.attempts,
            self.failures + other.failures,
            self.invalid + other.invalid,
        )


Window = tuple[Bucket, ...]


def counted(window: Window, now: int, window_ms: int, *more: Bucket) -> Window:
    """The buckets of the window that ends now, by their seconds, with those of `more` that belong in it.

    A bucket belongs to it as a whole once its second began after `now` - `window_ms`. So an attempt counts surely while
    it is no older than `window_ms` less a second, and never when it is `window_ms` old.
    """
    first, last = (now - window_ms) // BUCKET_MS + 1, now // BUCKET_MS
    found: dict[int, Bucket] = {}
    for bucket in (*window, *more):
        one = bucket if bucket.second <= last else msgspec.structs.replace(bucket, second=last)
        if one.second >= first:
            found[one.second] = found[one.second] + one if one.second in found else one
    return tuple(found[second] for second in sorted(found))


def total(window: Window) -> Bucket:
    """All of it as one bucket."""
    return Bucket(
        0,
        sum(one.attempts for one in window),
        sum(one.failures for one in window),
        sum(one.invalid for one in window),
    )
