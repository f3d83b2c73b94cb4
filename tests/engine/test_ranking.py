"""The first of a ranking, found without looking at all, are the first of the whole one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from router_service.engine.bits import bitset
from router_service.engine.index import Index
from router_service.engine.ranking import Ask
from router_service.engine.time_budget import SEARCHED
from tests.builders import endpoint

SIZE = 1500


def _facts(rng: random.Random, kind: str) -> dict[str, Any]:
    """Endpoints of a kind: all different, or so alike that ties are everywhere."""
    alike = kind == "alike"
    return {
        "input_price": rng.choice([None, 0, 1, 2] if alike else [None, round(rng.random() * 20, 6)]),
        "output_price": rng.choice([0, 1, 2] if alike else [round(rng.random() * 50, 6)]),
        "latency_ms": rng.choice([None, 500, 501] if alike else [None, rng.randrange(5000)]),
        "error_rate": rng.choice([None, 0.0, 0.5] if alike else [None, rng.random()]),
        "parameters_b": rng.choice([None, 7, 70, 400]),
        "context_window": rng.choice([None, 8192, 131072]),
        "tags": rng.sample(["coding", "agentic", "ocr"], rng.randrange(3)),
        "strong_languages": rng.sample(["de", "fr", "en", "es", "it", "nl"], rng.randrange(7)),
    }


@pytest.mark.parametrize("kind", ["different", "alike"])
def test_the_first_are_those_of_the_whole_order(kind: str) -> None:
    rng = random.Random(51)
    index = Index(endpoint(f"m{i:04}@p", rng.choice(["eu", "eu-owned"]), **_facts(rng, kind)) for i in range(SIZE))
    clever = 0
    for _ in range(60):
        share = rng.random() ** 2
        survivors = bitset((i for i in range(SIZE) if rng.random() < share), SIZE)
        ask = Ask(
            rng.choice(["general", "coding", "cheap", "retrieval", "ocr", ""]),
            rng.choice(["", "de", "mul"]),
            rng.randrange(17),
        )
        best, whole = index.rankings.best(survivors, ask), index.rankings.whole(survivors, ask)
        assert best.order == whole.order[: len(best.order)]
        assert tuple(best.walk()) == whole.order[:SEARCHED]
        assert tuple(best.walk()) == best.order == whole.order[:SEARCHED]
        for position in best.order[:3]:
            assert best.standing(position) == whole.standing(position)
        clever += survivors.bit_count() > 256
    assert clever > 20


def test_where_no_survivor_documents_prices() -> None:
    rng = random.Random(52)
    index = Index(endpoint(f"m{i:04}@p", latency_ms=rng.randrange(4000)) for i in range(600))
    ask = Ask("general", "", 4)
    whole = index.rankings.whole(index.everything, ask)
    assert tuple(index.rankings.best(index.everything, ask).walk()) == whole.order[:SEARCHED]
