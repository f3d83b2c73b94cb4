"""A request can only narrow a policy, and neither the order nor a shuffle of the catalogue can change an answer."""

from __future__ import annotations

import random
from typing import Any

import pytest

from router_service.domain.decision import Decision
from router_service.domain.request import RouteRequest
from router_service.engine.decide import decide, select
from router_service.engine.index import Index
from tests.reference.generate import random_case
from tests.vector_form import Json, decided, explained, read_case

CASES = 400


def _cases(seed: int) -> list[Json]:
    rng = random.Random(seed)
    return [random_case(rng) for _ in range(CASES)]


def _survivors(case: Json) -> set[str]:
    index, policy, request, now = read_case(case)
    survivors = select(index, policy, request, now).survivors
    return {one.endpoint_id for i, one in enumerate(index.endpoints) if survivors >> i & 1}


def _pinned(case: Json) -> Any:
    (result,) = decided(case).values()
    return result["pinned"], result["resolved_model"]


# What narrows a request: a field, and a value that some endpoint may fail.
NARROWINGS: dict[str, Json] = {
    "residency": {"residency": "eu-owned"},
    "regions": {"regions": ["DE", "fr-*"]},
    "image": {"modalities": ["text", "image"]},
    "tools": {"requires_tools": True},
    "strict": {"structured_output": "strict"},
    "classes": {"model_classes": ["general"]},
    "free": {"max_price": 0},
    "cheap": {"input_tokens": 1000, "output_tokens": 1000, "expected_output_tokens": None, "max_cost": 0.001},
    "long": {"input_tokens": 10**8, "output_tokens": 0, "expected_output_tokens": None},
    "hurry": {"deadline_ms": 700},
}


@pytest.mark.parametrize("name", NARROWINGS)
def test_narrowing_never_adds_a_survivor(name: str) -> None:
    added, removed = 0, 0
    for case in _cases(sum(map(ord, name))):
        base = dict(case["request"])
        for field in NARROWINGS[name]:
            base.pop(field, None)
        if name in ("cheap", "long"):
            base.pop("max_cost", None)
        wide = _survivors(case | {"request": base})
        narrow = _survivors(case | {"request": base | NARROWINGS[name]})
        added += len(narrow - wide)
        removed += len(wide - narrow)
    assert added == 0
    assert removed > 0, "the narrowing narrowed nothing: the test would prove nothing"


def test_any_request_stays_inside_what_the_policy_admits_for_an_empty_one() -> None:
    inside = 0
    for case in _cases(2):
        index, policy, request, now = read_case(case)
        everything = RouteRequest(residency="any")
        admitted = select(index, policy, everything, now).survivors
        survivors = select(index, policy, request, now).survivors
        assert survivors & ~admitted == 0
        inside += survivors.bit_count()
    assert inside > CASES


def test_excluding_and_suppressing_move_the_list_and_never_widen_it() -> None:
    moved = 0
    for case in _cases(3):
        index, policy, request, now = read_case(case)
        result = decide(index, policy, request, now)
        if not isinstance(result, Decision):
            continue
        first = result.candidates[0].endpoint_id
        again = case["request"] | {"exclude_endpoints": [*(case["request"].get("exclude_endpoints") or ()), first]}
        assert first not in _survivors(case | {"request": again})
        assert _survivors(case | {"request": again}) == _survivors(case) - {first}
        moved += 1
    assert moved > CASES // 10


def test_order_of_the_catalogue_is_irrelevant() -> None:
    rng = random.Random(4)
    for case in _cases(4):
        shuffled = case | {"catalog": rng.sample(case["catalog"], len(case["catalog"]))}
        assert decided(shuffled) == decided(case)
        assert explained(shuffled) == explained(case)


def test_an_index_remembers_nothing_that_can_be_seen() -> None:
    """The same index asked by many requests in turn answers each as a fresh one does."""
    rng = random.Random(5)
    for case in _cases(5)[:60]:
        index, policy, _, now = read_case(case)
        for _ in range(10):
            request = RouteRequest.read(random_case(rng)["request"])
            assert decide(index, policy, request, now) == decide(Index(index.endpoints), policy, request, now)
