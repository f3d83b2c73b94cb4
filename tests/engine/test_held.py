"""What is held beside an index counts as if the index said it: same answers, counts, retry times and explanations."""

from __future__ import annotations

import random

import msgspec

from router_service.domain.decision import Refusal
from router_service.domain.endpoint import Endpoint
from router_service.domain.request import RouteRequest
from router_service.engine.decide import decide
from router_service.engine.explain import explain
from router_service.engine.held import NOTHING, held
from router_service.engine.index import Index
from tests.builders import NOW, endpoint
from tests.reference.generate import random_case
from tests.vector_form import explanation_form, read_case, result_form

CASES = 150


def _suppressed(one: Endpoint, until: int | None) -> Endpoint:
    """The endpoint with this suppression, unless its own is longer."""
    ends = [end for end in (one.suppressed_until, until) if end is not None]
    return msgspec.structs.replace(one, suppressed_until=max(ends, default=None))


def test_held_is_the_same_as_suppressed() -> None:
    rng = random.Random(31)
    differed = refused = 0
    for _ in range(CASES):
        index, policy, request, now = read_case(random_case(rng))
        share = rng.choice([0.2, 0.6, 1.0])
        until = {
            one.endpoint_id: now + rng.choice([1, 2, 1000, 40_000, 10**9])
            for one in index.endpoints
            if rng.random() < share
        }
        out = held(index, until | {"nobody's": now + 5})
        marked = Index(_suppressed(one, until.get(one.endpoint_id)) for one in index.endpoints)
        for asked in (request, RouteRequest(), RouteRequest(deadline_ms=1500, expected_output_tokens=10)):
            got, wanted = decide(index, policy, asked, now, out), decide(marked, policy, asked, now)
            assert result_form(got) == result_form(wanted)
            if isinstance(got, Refusal) and isinstance(wanted, Refusal):
                assert got.retry_at == wanted.retry_at
                refused += got.retry_at is not None
            told, plain = explain(index, policy, asked, now, out), explain(marked, policy, asked, now)
            assert explanation_form(told) == explanation_form(plain)
            # What was held leaves no trace in the index.
            assert decide(index, policy, asked, now) == decide(Index(index.endpoints), policy, asked, now)
            differed += got != decide(index, policy, asked, now)
    assert differed > CASES // 4
    assert refused > CASES // 10


def test_nothing_is_held_of_endpoints_that_nobody_has() -> None:
    index = Index([endpoint("a@x")])
    assert held(index, {}) is NOTHING
    assert held(index, {"b@x": NOW + 1}) is NOTHING
    out = held(index, {"a@x": NOW + 1, "b@x": NOW + 1})
    assert out.by_id(index) == {"a@x": NOW + 1}
