"""Learning: what a report says of the endpoints that were tried (docs/reliability.md, Failure classes)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from fractions import Fraction

from router_service.domain.report import OutcomeReport
from router_service.domain.thresholds import Thresholds
from router_service.engine.index import Index
from router_service.health.effects import effect_of
from router_service.health.figures import latency_of
from router_service.health.observation import Observation


def observations(
    report: OutcomeReport,
    new: Collection[str],
    *,
    decided_at: int,
    now: int,
    thresholds: Thresholds,
    index: Index | None,
    needs: Callable[[], Mapping[str, int]],
) -> Iterator[tuple[str, Observation]]:
    """(endpoint_id, observation) of each attempt whose id is in `new`: those that were not reported before.

    `index` tells how fast endpoints generate; `needs` gives what each candidate needed, in ms by its id, and is asked
    only where a time-out was told. Instants are ms.
    """
    for attempt in report.attempts:
        if attempt.attempt_id not in new:
            continue
        need = None if attempt.timeout_ms is None else needs().get(attempt.endpoint_id)
        effect = effect_of(attempt, report.outcome, need, thresholds)
        ended_at = now
        if attempt.started_at is not None and attempt.latency_ms is not None:
            ended_at = attempt.started_at + attempt.latency_ms
        yield (
            attempt.endpoint_id,
            Observation(
                trace_id=report.trace_id,
                decided_at=decided_at,
                effect=effect.kind,
                at=ended_at,
                began=attempt.started_at,
                suppress_for_ms=effect.suppress_for_ms,
                latency_ms=latency_of(attempt, _speed(index, attempt.endpoint_id)),
            ),
        )


def _speed(index: Index | None, endpoint_id: str) -> Fraction | None:
    position = None if index is None else index.position.get(endpoint_id)
    return None if index is None or position is None else index.endpoints[position].tokens_per_second
