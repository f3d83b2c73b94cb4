"""How long an attempt may take and how long to wait before it. All times are integer milliseconds."""

from __future__ import annotations

from collections.abc import Iterable

RESERVE_MS = 300
RESERVE_SHARE = 20  # at most a twentieth of the deadline is kept back
# A later attempt's allowance is 32/45 of the one before it.
_LATER, _EARLIER = 32, 45
BASE_MS = 200
CAP_MS = 2000
PATIENCE_MS = 60_000
"""The longest Retry-After that is waited for where there is no deadline."""


def spendable_ms(deadline_ms: int) -> int:
    """What can be spent on attempts: the deadline less what is kept back for the caller's own work and its checks."""
    return deadline_ms - min(RESERVE_MS, deadline_ms // RESERVE_SHARE)


def allowances_ms(spendable: int, attempts: int) -> tuple[int, ...]:
    """How `spendable` is divided over `attempts`, the first getting most."""
    shares = [_LATER**i * _EARLIER ** (attempts - 1 - i) for i in range(attempts)]
    total = sum(shares)
    return tuple(spendable * share // total for share in shares)


def allowance_ms(left: int, needs: Iterable[int], attempts: int) -> int | None:
    """How long the first of `needs` may take of the time that is `left`; None where it does not fit.

    `needs` are those of the candidates that are left, the next to be tried first, of which `attempts` can be tried at
    most. The time is divided as the service divided it: the first is in, and each next one joins if every allowance
    still covers its need.
    """
    chosen: list[int] = []
    allowed: tuple[int, ...] = ()
    for need in needs:
        if len(chosen) == attempts:
            break
        longer = [*chosen, need]
        divided = allowances_ms(left, len(longer))
        fits = all(allowance >= one for allowance, one in zip(divided, longer, strict=True))
        if not chosen and not fits:
            return None
        if fits:
            chosen, allowed = longer, divided
    return allowed[0] if allowed else None


def jitter_ms(retries: int, draw: float) -> int:
    """Full jitter: how long to wait before a retry, `retries` having gone before and `draw` in 0 to 1."""
    return int(draw * min(CAP_MS, BASE_MS << min(retries, 16)))


def fits(wait: int, need: int, left: int | None) -> bool:
    """Whether an attempt still fits after a wait; without a deadline (`left` None) patience ends some time too."""
    return wait <= PATIENCE_MS if left is None else wait + need <= left
