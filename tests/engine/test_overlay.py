"""An index with other figures answers as one that was compiled with them, whatever it shares with the one before."""

from __future__ import annotations

import random
from typing import Any

import msgspec

from router_service.domain.endpoint import Endpoint
from router_service.domain.request import RouteRequest
from router_service.engine.decide import decide
from router_service.engine.explain import explain
from router_service.engine.index import CHANGING, Index
from router_service.engine.slices import made_of
from tests.reference.generate import random_case
from tests.vector_form import read_case

CASES = 300


def _overlaid(index: Index, changed: dict[str, Endpoint]) -> Index:
    return made_of(index.overlaid(changed))


def _other_figures(rng: random.Random, endpoint: Endpoint, now: int) -> Endpoint:
    figures: dict[str, Any] = {
        "status": rng.choice(["up", "degraded", "down", "unknown", endpoint.status]),
        "suppressed_until": rng.choice([None, now - 1, now, now + 1, now + 5000]),
        "latency_ms": rng.choice([None, 0, 20, 700, 9000]),
        "error_rate": rng.choice([None, 0.0, 0.1, 1.0]),
    }
    assert set(figures) == set(CHANGING)
    chosen = {name: value for name, value in figures.items() if rng.random() < 0.6}
    return msgspec.structs.replace(endpoint, **chosen)


def test_an_overlay_answers_as_a_fresh_index() -> None:
    rng = random.Random(21)
    differed = 0
    for _ in range(CASES):
        index, policy, request, now = read_case(random_case(rng))
        decide(index, policy, request, now)
        overlay, endpoints = index, index.endpoints
        for _ in range(2):
            some = [one for one in endpoints if rng.random() < 0.5]
            changed = {one.endpoint_id: _other_figures(rng, one, now) for one in some}
            endpoints = tuple(changed.get(one.endpoint_id, one) for one in endpoints)
            overlay = _overlaid(overlay, changed)
        fresh = Index(endpoints)
        for asked in (request, RouteRequest(), RouteRequest(deadline_ms=1500, expected_output_tokens=10)):
            assert decide(overlay, policy, asked, now) == decide(fresh, policy, asked, now)
            assert explain(overlay, policy, asked, now) == explain(fresh, policy, asked, now)
            differed += decide(overlay, policy, asked, now) != decide(index, policy, asked, now)
    assert differed > CASES // 4


def test_the_index_before_stays_as_it_was() -> None:
    rng = random.Random(22)
    for _ in range(60):
        index, policy, request, now = read_case(random_case(rng))
        before = explain(index, policy, request, now)
        changed = {one.endpoint_id: _other_figures(rng, one, now) for one in index.endpoints}
        overlay = _overlaid(index, changed)
        explain(overlay, policy, request, now)
        index.answers.clear()
        assert explain(index, policy, request, now) == before
