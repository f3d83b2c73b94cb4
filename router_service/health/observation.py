"""Observation: a reported attempt as its endpoint's health looks at it (docs/reliability.md, Circuits)."""

from __future__ import annotations

import msgspec


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt on the endpoint, with its effect (see health/effects.py); instants and times in ms.

    `decided_at` is when its decision was made, `at` when the attempt ended, as far as known, and `began` when it did,
    None where only its end is known. `latency_ms` is that to the first token, None where nothing was told; it counts of
    a success alone.
    """

    trace_id: str
    decided_at: int
    effect: str
    at: int
    suppress_for_ms: int = 0
    latency_ms: int | None = None
    began: int | None = None

    @property
    def place(self) -> int:
        """Where it stands in a row. An answer that began before an outage says nothing of what failed in it."""
        return self.at if self.began is None else self.began

    def by(self, now: int) -> Observation:
        """The same as it can have been: it ended after its decision, and both were by `now`.

        The caller's clock tells `at` and `began`, and that may be wrong by any amount; the service's own tell the
        other two.
        """
        decided_at = min(self.decided_at, now)
        at = min(max(self.at, decided_at), now)
        began = None if self.began is None else min(max(self.began, decided_at), at)
        return msgspec.structs.replace(self, decided_at=decided_at, at=at, began=began)
