"""Span: a stretch of time that ends by itself, and never far beyond its length, whatever the clock does."""

from __future__ import annotations

import msgspec


class Span(msgspec.Struct, frozen=True, array_like=True):
    """Ends at the instant `until`, `length` ms after it began."""

    until: int
    length: int

    def is_running(self, now: int) -> bool:
        """Whether it has not ended; at the millisecond `until` it has.

        An end further ahead than twice the length was set by a clock that has been set back since, and does not count:
        what is shut for 30 s is shut for a minute at worst, not until the clock comes there again. Clocks of two
        instances that differ by less than the length do no harm.
        """
        return 0 < self.until - now <= 2 * self.length


def later(one: Span | None, other: Span | None, now: int) -> Span | None:
    """The one that ends later, of those that run now."""
    running = [span for span in (one, other) if span is not None and span.is_running(now)]
    return max(running, key=lambda span: span.until, default=None)
