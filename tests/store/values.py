"""What goes into a store, with everything that a test does not care about filled in."""

from __future__ import annotations

from typing import Any

from router_service.store.interface import Attempt, Report, Reservation, Taken, Trace

CENT = 10**10
MINUTE = 60_000
NOW = 1_796_000_000_000
DAY = "2026-11-30"
BIG = 10**25  # beyond what any store counts in by itself


def reservation(trace_id: str = "t1", amount: int = CENT, **fields: Any) -> Reservation:
    of = {
        "policy_id": "p",
        "day": DAY,
        "budget": 50 * CENT,
        "at": NOW,
        "expires_at": NOW + 15 * MINUTE,
        **fields,
    }
    return Reservation(trace_id=trace_id, amount=amount, **of)


def attempt(attempt_id: str = "a1", cost: int = CENT, **fields: Any) -> Attempt:
    return Attempt(attempt_id=attempt_id, cost=cost, **{"endpoint_id": "e/one", "body": b"\x00said\xff", **fields})


def report(trace_id: str = "t1", *attempts: Attempt, **fields: Any) -> Report:
    of = {"policy_id": "p", "at": NOW + 1000, "outcome": "accepted", **fields}
    return Report(trace_id=trace_id, attempts=attempts, **of)


def taken(*new: str, duplicates: int = 0) -> Taken:
    """The answer to a report of these new attempts and so many known ones."""
    return Taken(len(new), duplicates, new)


def trace(trace_id: str = "t1", at: int = NOW, **fields: Any) -> Trace:
    of = {
        "expires_at": at + 60 * MINUTE,
        "policy_id": "p",
        "outcome": "decided",
        "catalog_version": "v1",
        "endpoints": ("e/one", "e/two"),
        "request": b"\x00request\xff",
        "answer": b"\x00answer\xff",
        "context": b'{"seen":1}',
        **fields,
    }
    return Trace(trace_id=trace_id, at=at, **of)
