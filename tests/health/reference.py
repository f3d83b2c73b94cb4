"""A circuit told plainly, by a list of all its attempts: slow, and for a clock that is never set back."""

from __future__ import annotations

from dataclasses import dataclass, field

from router_service.domain.thresholds import Thresholds


@dataclass
class Reference:
    """What docs/reliability.md says of one circuit, rule by rule."""

    thresholds: Thresholds
    attempts: list[tuple[int, str]] = field(default_factory=list)  # (ended at, effect), in the order of coming
    closed_at: int = 0
    open_until: int | None = None
    length: int = 0
    good: set[str] = field(default_factory=set)
    places: dict[str, int] = field(default_factory=dict)  # trace → until
    reported_at: int = 0

    def phase(self, now: int) -> str:
        if self.open_until is None:
            return "closed"
        return "open" if now < self.open_until else "half_open"

    def is_free(self, now: int) -> bool:
        held = sum(until > now for until in self.places.values())
        return self.phase(now) == "closed" or (self.phase(now) == "half_open" and held < self.thresholds.probes)

    def take(self, trace_id: str, now: int) -> None:
        if self.phase(now) == "half_open" and self.places.get(trace_id, 0) <= now:
            self.places[trace_id] = now + self.thresholds.probe_ms

    def report(self, trace_id: str, decided_at: int, effect: str, at: int, now: int) -> None:
        if self.open_until is None and now - self.reported_at >= self.thresholds.forget_ms:
            self.attempts, self.closed_at = [], 0
        self.reported_at = now
        self.places.pop(trace_id, None)
        if effect not in ("success", "failure", "invalid"):
            return
        if self.open_until is None:
            if decided_at >= self.closed_at:
                self.attempts.append((at, effect))
                if self.is_too_much(now):
                    self.open(now, self.thresholds.open_ms)
        elif decided_at >= self.open_until:
            if effect != "success":
                self.open(now, min(2 * self.length, self.thresholds.open_max_ms))
                return
            self.good.add(trace_id)
            if len(self.good) == self.thresholds.good_probes:
                self.attempts, self.closed_at, self.open_until = [], now, None
                self.places = {}

    def open(self, now: int, length: int) -> None:
        self.open_until, self.length, self.good, self.places = now + length, length, set(), {}

    def is_too_much(self, now: int) -> bool:
        limits, failures, invalid = self.thresholds, 0, 0
        for _, effect in sorted(self.attempts, key=lambda one: one[0]):  # equal instants stay in the order of coming
            failures = failures + 1 if effect == "failure" else 0
            invalid = {"success": 0, "failure": invalid, "invalid": invalid + 1}[effect]
        recent = [effect for at, effect in self.attempts if at - at % 1000 > now - limits.window_ms]
        return (
            failures >= limits.failures_in_row
            or invalid >= limits.invalid_in_row
            or self.is_share(recent, "failure", limits.failure_share, limits.least_attempts)
            or self.is_share(recent, "invalid", limits.invalid_share, limits.invalid_least)
        )

    @staticmethod
    def is_share(recent: list[str], effect: str, share: float, least: int) -> bool:
        return len(recent) >= least and recent.count(effect) / len(recent) >= share
