"""What is done with every answer of a decision, whichever door it leaves by: it is counted, and logged in one line."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from router_service.asks import Answer
from router_service.domain.caller import Caller
from router_service.domain.decision import Refusal
from router_service.server.metrics import Metrics


class Told:
    """Counts answers and logs them, a decision at debug and a refusal at info."""

    def __init__(self, metrics: Metrics, log: Any, spans: Callable[[Answer], None] | None = None) -> None:
        """`spans` is told of every answer too."""
        self._answered, self._log, self._spans = metrics.answered, log, spans

    def __call__(self, caller: Caller, answer: Answer, *, inline: bool = False) -> None:
        """`inline` is whether the request brought its own policy."""
        result = answer.result
        self._answered(result, inline)
        if self._spans is not None:
            self._spans(answer)
        if isinstance(result, Refusal):
            self._log.info(
                "refused",
                trace_id=answer.trace_id,
                caller=caller.caller,
                policy=result.policy_id,
                code=result.code,
                reasons=result.reasons,
            )
        elif self._log.is_enabled_for(logging.DEBUG):
            self._log.debug(
                "decided",
                trace_id=answer.trace_id,
                caller=caller.caller,
                policy=result.policy_id,
                candidates=[one.endpoint_id for one in result.candidates],
            )
