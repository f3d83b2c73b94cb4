"""The time budget: an endpoint's need, the allowances of attempts, who fits (reliability.md §2)."""

from fractions import Fraction
from math import ceil

from .case import Endpoint

CONNECT_MS = 100
MAX_RESERVE_MS = 300
LOOKED_AT = 32


def spendable_ms(deadline_ms: int) -> int:
    """U: the deadline less what is kept back for the proxy's own work."""
    return deadline_ms - min(MAX_RESERVE_MS, deadline_ms // 20)


def need_ms(endpoint: Endpoint, expected_output_tokens: int | None) -> int:
    """To connect, to the first token, and to generate where both figures of it are known."""
    need = CONNECT_MS + endpoint.latency_or_default
    if expected_output_tokens is not None and endpoint.tokens_per_second is not None:
        # In fractions, the speed read by its shortest decimal form: a time is never a double's.
        speed = Fraction(repr(endpoint.tokens_per_second))
        need += ceil(1000 * expected_output_tokens / speed)
    return need


def allowances(spendable: int, attempts: int) -> list[int]:
    """What each of n attempts may take: each next one 32/45 of the one before it."""
    shares = [32**i * 45 ** (attempts - 1 - i) for i in range(attempts)]
    return [spendable * share // sum(shares) for share in shares]


def within_budget(needs: list[int], spendable: int | None, max_attempts: int) -> list[tuple[int, int | None]]:
    """The candidates, as (place in the ranking, allowance), given the needs down the ranking."""
    if spendable is None:
        return [(place, None) for place in range(min(max_attempts, len(needs)))]
    taken: list[int] = []
    for place in range(min(LOOKED_AT, len(needs))):
        if len(taken) == max_attempts:
            break
        trial = [*taken, place]
        allowed = allowances(spendable, len(trial))
        # The first is always in; each next one where every allowance covers its candidate's need.
        if not taken or all(a >= needs[p] for a, p in zip(allowed, trial, strict=True)):
            taken = trial
    return list(zip(taken, allowances(spendable, len(taken)), strict=True))
