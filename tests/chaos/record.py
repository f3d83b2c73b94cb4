"""The record of a run: what was done and answered, in counts, and every violation."""

from __future__ import annotations

import time
from collections import Counter

VIOLATIONS_MAX = 200


class Record:
    """Counts by name, and violations with what they are about."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.done: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.checks: Counter[str] = Counter()
        self.violations: list[str] = []
        self._begun = time.monotonic()

    def fault(self, name: str) -> None:
        """A fault was done."""
        self.done[name] += 1

    def check(self, name: str, found: list[str], about: object = "") -> None:
        """Something was checked; `found` is what is wrong with it."""
        self.checks[name] += 1
        for one in found[: VIOLATIONS_MAX - len(self.violations)]:
            at = time.monotonic() - self._begun
            self.violations.append(f"[{at:.1f} s] {name}: {one}" + (f"\n    {about}" if about != "" else ""))

    def table(self) -> str:
        """All counts, readable."""
        lines = []
        for title, counts in (("faults", self.done), ("answers", self.answers), ("checked", self.checks)):
            lines.append(title)
            lines += [f"  {name:<44}{count:>8}" for name, count in sorted(counts.items())]
        return "\n".join(lines)
