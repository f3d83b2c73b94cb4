"""What a store keeps of an endpoint: its health as it was, and how far each instance's events are in it."""

from __future__ import annotations

import json

import pytest

from router_service.health.kept import Kept, decode, encode
from router_service.health.state import Health, observe, set_by_hand
from tests.health.events import DEFAULTS, MINUTE, NOW, SECOND, after, seen, taken


def full() -> Health:
    """One that has something of everything."""
    now = NOW + MINUTE
    probe = seen("success", now, latency_ms=123, suppress_for_ms=90_000)
    health = observe(after("success invalid " + "failure " * 5), probe, now, DEFAULTS)
    return set_by_hand(taken(health, "trace", now), "degraded", "why", now)


FULL = Kept(full(), {"a": 1, "b": 70_000})


@pytest.mark.parametrize("kept", [Kept(), FULL, Kept(after("success invalid failure"), {"a": 3})])
def test_a_store_gives_back_what_it_got(kept: Kept) -> None:
    assert decode(encode(kept)) == kept


def test_what_another_version_added_is_passed_over_and_what_it_lacks_is_the_default() -> None:
    raw = json.loads(encode(FULL))
    raw["mood"] = {"good": [1, 2]}
    raw["health"]["circuit"]["colour"] = "red"
    raw["health"]["circuit"]["places"][0].append("by whom")
    raw["health"]["latency"].append(7)
    raw["health"]["by_hand"]["by"] = "somebody"
    assert decode(json.dumps(raw).encode()) == FULL
    assert decode(b"{}") == Kept()


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"[]", b"null", b'{"health": {"circuit": 1}}', b'{"health": {"reported_at": "now"}}']
)
def test_what_is_no_health_says_nothing(body: bytes) -> None:
    assert decode(body) == Kept()


def test_a_writer_is_the_latest_and_the_oldest_of_many_is_no_longer_told_apart() -> None:
    kept = Kept()
    for number in range(1, 41):
        kept = kept.with_writer(f"i{number % 20}", number, Health(reported_at=number))
    assert list(kept.heard) == [f"i{number % 20}" for number in range(25, 41)]
    assert kept.heard["i0"] == 40
    assert kept.health == Health(reported_at=40)


def test_the_longest_state_is_small() -> None:
    kept = Kept()
    for second in range(300):
        now = NOW + second * SECOND
        effect = "failure" if second % 3 == 0 else "success"
        health = observe(kept.health, seen(effect, now, latency_ms=second), now, DEFAULTS)
        kept = kept.with_writer(f"{second % 20:08x}", 10**9 + second, health)
    assert len(encode(kept)) < 2500
