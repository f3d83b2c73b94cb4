"""A request under a workload is admitted no endpoint that either of the two refuses alone."""

from __future__ import annotations

import random
from functools import cache, partial

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from router_service.domain.endpoint import Endpoint
from router_service.domain.policy import Policy
from router_service.domain.problems import InvalidValue
from router_service.domain.request import RouteRequest, Stated
from router_service.domain.workload import NEEDS, Workload, join
from router_service.engine.decide import select
from router_service.engine.index import Index
from router_service.engine.regions import common_regions
from tests.reference.generate import random_case
from tests.reference.generate_request import random_request
from tests.vector_form import Json

POLICY = Policy.read({"policy_id": "all", "residency": ["eu-hosted", "global"], "partner_endpoints": True})


def drawn(seed: int) -> tuple[Index, Workload, Stated, int]:
    """A catalogue, a workload and a request, the last two with several demands each."""
    rng = random.Random(seed)
    case = random_case(rng)
    index = Index(Endpoint.read(one) for one in case["catalog"])
    catalog = case["catalog"]
    needs: Json = {}
    own: Json = {}
    for part in (needs, own):
        for _ in range(3):
            part |= {name: value for name, value in random_request(rng, catalog).items() if value is not None}
    needs = {name: value for name, value in needs.items() if name in NEEDS}
    for part in (needs, own):
        expected, most = part.get("expected_output_tokens"), part.get("output_tokens")
        if expected is not None and most is not None:
            part["expected_output_tokens"] = min(expected, most)
    workload = Workload.read({"name": "w", "version": "1"} | needs)
    return index, workload, Stated.read(own), case["now"]


def survivors(index: Index, request: RouteRequest, now: int) -> int:
    return select(index, POLICY, request, now).survivors


def alone(stated: Stated, other: Stated) -> RouteRequest:
    """What one states alone; a limit of cost counts with the tokens that it leaves to the other."""
    values = stated.values
    if stated.max_cost is not None:
        for name in ("input_tokens", "output_tokens"):
            left_open = getattr(stated, name) is None and getattr(other, name) is not None
            if left_open:
                values[name] = getattr(other, name)
    return RouteRequest(**values)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**63))
def test_the_two_together_are_admitted_nothing_that_either_refuses(seed: int) -> None:
    index, workload, own, now = drawn(seed)
    try:
        request = join(workload, own, partial(common_regions, index)).request
    except InvalidValue:
        assume(False)
        return
    together = survivors(index, request, now)
    assert together & ~survivors(index, alone(own, workload.needs), now) == 0
    # The model and what is excluded are the request's own, and only narrow.
    assert together & ~survivors(index, alone(workload.needs, own), now) == 0
    assert request.max_attempts <= min(own.max_attempts or 3, workload.needs.max_attempts or 3)


def test_that_proves_something() -> None:
    """Workloads narrow what requests are admitted, requests narrow workloads, and something is often left."""
    seen = {"joined": 0, "narrowed by the workload": 0, "narrowed by the request": 0, "left": 0}
    for seed in range(300):
        index, workload, own, now = drawn(seed)
        try:
            request = join(workload, own, partial(common_regions, index)).request
        except InvalidValue:
            continue
        together = survivors(index, request, now)
        seen["joined"] += 1
        seen["narrowed by the workload"] += bool(survivors(index, alone(own, workload.needs), now) & ~together)
        seen["narrowed by the request"] += bool(survivors(index, alone(workload.needs, own), now) & ~together)
        seen["left"] += bool(together)
    assert all(count > 15 for count in seen.values()), seen


@cache
def cases() -> list[Json]:
    rng = random.Random(7)
    return [random_case(rng) for _ in range(500)]


@cache
def catalogues() -> list[tuple[Index, int]]:
    return [(Index(Endpoint.read(one) for one in case["catalog"]), case["now"]) for case in cases()[:50]]


def values_of(name: str) -> list[Stated]:
    """What random requests state of one field, a limit of cost with its tokens."""
    found = []
    for case in cases():
        request = case["request"]
        if request.get(name) is not None:
            tokens = {"input_tokens": 700, "output_tokens": 300} if name == "max_cost" else {}
            found.append(Stated.read({name: request[name], **tokens}))
    return found


@pytest.mark.parametrize("name", NEEDS)
def test_one_field_of_both_admits_just_what_both_values_admit(name: str) -> None:
    """But classes, of which a model that has another one of each is left out."""
    rng = random.Random(sum(map(ord, name)))
    stated, compared, narrowed = values_of(name), 0, 0
    for index, now in catalogues():
        for _ in range(6):
            needs, own = rng.choice(stated), rng.choice(stated)
            workload = Workload(name="w", version="1", needs=needs)
            one, other = survivors(index, needs.alone, now), survivors(index, own.alone, now)
            try:
                both = survivors(index, join(workload, own, partial(common_regions, index)).request, now)
            except InvalidValue:
                assert name in ("regions", "model_classes")
                continue
            assert both == one & other or (name == "model_classes" and not both & ~(one & other))
            compared += 1
            narrowed += both != one
    assert compared > 30
    refuses = name not in ("task", "language", "max_attempts", "expected_output_tokens")
    assert bool(narrowed) is refuses
