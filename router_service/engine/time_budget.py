"""What an attempt needs and what it is allowed: one end-to-end time budget (docs/reliability.md, Time budget).

All times are integer milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import islice

from router_service.domain.endpoint import Endpoint

CONNECT_MS = 100
DEFAULT_LATENCY_MS = 500
RESERVE_MS = 300
RESERVE_SHARE = 20  # at most a twentieth of the deadline is kept back
# A later attempt's allowance is 32/45 of the one before it.
_LATER, _EARLIER = 32, 45
SEARCHED = 32  # how far down the ranking the failover list looks


def spendable_ms(deadline_ms: int) -> int:
    """What can be spent on attempts: the deadline less what is kept back for the proxy's own work and its checks."""
    return deadline_ms - min(RESERVE_MS, deadline_ms // RESERVE_SHARE)


def generation_ms(expected_output_tokens: int | None, tokens_per_second: Fraction | None) -> int:
    """How long the expected answer takes to generate, rounded up; 0 where either figure is unknown."""
    if expected_output_tokens is None or tokens_per_second is None:
        return 0
    return -(-1000 * expected_output_tokens * tokens_per_second.denominator // tokens_per_second.numerator)


def need_ms(endpoint: Endpoint, expected_output_tokens: int | None) -> int:
    """What one attempt at the endpoint needs: to connect, to the first token, and to generate the expected answer."""
    latency = DEFAULT_LATENCY_MS if endpoint.latency_ms is None else endpoint.latency_ms
    return CONNECT_MS + latency + generation_ms(expected_output_tokens, endpoint.tokens_per_second)


def allowances_ms(spendable: int, attempts: int) -> tuple[int, ...]:
    """How `spendable` is divided over `attempts`, the first getting most (8 s over two: about 4.5 s and 3.2 s)."""
    shares = [_LATER**i * _EARLIER ** (attempts - 1 - i) for i in range(attempts)]
    total = sum(shares)
    return tuple(spendable * share // total for share in shares)


def failover_list(needs: Iterable[tuple[int, int]], spendable: int | None, max_attempts: int) -> list[tuple[int, int]]:
    """Those that become attempts, of `needs`, pairs (position, need) down the ranking.

    The first is always in. Each next one joins if every allowance, its own included, still covers its attempt's need.
    Without a deadline (`spendable` None) the first `max_attempts` are taken as they come.
    """
    if spendable is None:
        return list(islice(needs, max_attempts))
    chosen: list[tuple[int, int]] = []
    for one in islice(needs, SEARCHED):
        longer = [*chosen, one]
        allowances = allowances_ms(spendable, len(longer))
        if not chosen or all(allowance >= need for allowance, (_, need) in zip(allowances, longer, strict=True)):
            chosen = longer
            if len(chosen) == max_attempts:
                break
    return chosen
