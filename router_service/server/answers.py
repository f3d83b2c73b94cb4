"""What Decide answered, counted by the answer itself: the same request has the very same answer (engine/decide.py).

So a Decide counts one number, and who was passed over and why is added up when somebody reads, or when many different
answers have come.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from router_service.domain.decision import Decision, Refusal
from router_service.server.labels import Values
from router_service.server.tallies import Counts

DECIDED = "decided"
INLINE_POLICY = "(inline)"
SEEN_MAX = 256  # answers told apart; to add up so many takes less than a millisecond


class _Seen:
    """An answer, and how often it was given. It is held here, so that no other can have its identity meanwhile."""

    __slots__ = ("count", "inline", "result")

    def __init__(self, result: Decision | Refusal, inline: bool) -> None:
        self.result, self.inline, self.count = result, inline, 0


class Answers(Collector):
    """Counts answers of Decide. `policies` are the values of the label."""

    def __init__(self, policies: Values) -> None:
        self._policies = policies
        self._seen: dict[int, _Seen] = {}
        self._decisions = Counts(
            "router_decisions",
            "Answers of Decide by policy and outcome: decided, or the literal name of the refusal.",
            ["policy", "outcome"],
        )
        self._excluded = Counts(
            "router_excluded_endpoints",
            "Endpoints passed over in answers of Decide, each under its first reason.",
            ["policy", "reason"],
        )

    def add(self, result: Decision | Refusal, inline: bool) -> None:
        """Counts an answer; `inline` is whether the request brought its own policy."""
        seen = self._seen.get(id(result)) or self._first(result, inline)
        seen.count += 1

    def collect(self) -> Iterator[Metric]:
        """As the library asks for it."""
        self._add_up()
        yield from self._decisions.collect()
        yield from self._excluded.collect()

    def serve(self) -> None:
        """Another catalogue serves: what `policies` no longer shows is forgotten."""
        self._add_up()
        for counts in (self._decisions, self._excluded):
            counts.keep(lambda labels: labels[0] == INLINE_POLICY or self._policies.has(labels[0]))

    def _first(self, result: Decision | Refusal, inline: bool) -> _Seen:
        if len(self._seen) >= SEEN_MAX:
            self._add_up()
        seen = self._seen[id(result)] = _Seen(result, inline)
        return seen

    def _add_up(self) -> None:
        """Sums within each policy first, since most answers share theirs: this is done for every answer that is new."""
        sums: dict[tuple[str, bool], tuple[dict[str, int], dict[str, int]]] = {}
        for seen in self._seen.values():
            result, count = seen.result, seen.count
            outcomes, reasons = sums.setdefault((result.policy_id, seen.inline), ({}, {}))
            outcome = DECIDED if isinstance(result, Decision) else result.code
            outcomes[outcome] = outcomes.get(outcome, 0) + count
            for reason, endpoints in result.reasons.items():
                reasons[reason] = reasons.get(reason, 0) + endpoints * count
        self._seen.clear()
        for (policy_id, inline), told in sums.items():
            policy = INLINE_POLICY if inline else self._policies.of(policy_id)
            for counts, summed in zip((self._decisions, self._excluded), told, strict=True):
                for name, count in summed.items():
                    counts.add((policy, name), count)
