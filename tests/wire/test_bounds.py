"""What is remembered never grows without bound, whatever is asked, and dies with its snapshot."""

from __future__ import annotations

import gc
import random
import weakref
from contextlib import suppress

from router_service.asks import Ask, InvalidRequest
from router_service.catalog.content import Content
from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.catalog.workloads import REMEMBERED as REMEMBERED_JOINED
from router_service.domain.caller import LOCAL
from router_service.domain.policy import Policy
from router_service.domain.request import RouteRequest as Request
from router_service.domain.workload import Workload
from router_service.engine.decide import decide
from router_service.engine.explain import explain
from router_service.engine.index import ANSWERS, Index
from router_service.router import Router
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.route_pb2 import RouteRequest
from router_service.wire.read import REMEMBERED, REMEMBERED_SIZE, AskReader
from tests.builders import endpoint

# Every memory of an index and of what it is made of, with its bound.
MEMORIES = {
    "answers": ANSWERS,
    "_policies": 1024,
    "_regions": 1024,
    "usable_slugs": 1024,
    "models._resolved": 4096,
    "rankings._rankings": 2048,
    "costs._remembered": 256,
    "needs._remembered": 256,
    "windows._joined": 128,
}


def _memory(index: Index, path: str) -> dict[object, object]:
    found: object = index
    for name in path.split("."):
        found = getattr(found, name)
    assert isinstance(found, dict)
    return found


def _adversarial(rng: random.Random, number: int) -> RouteRequest:
    """Something new in every field that is a key of some memory."""
    return RouteRequest(
        model=rng.choice(["", f"x{number}/m{number % 7}", f"unknown-{number}"]),
        task=f"task-{number}",
        language=rng.choice(["de", "fr", f"x{chr(97 + number % 26)}{chr(97 + number // 26 % 26)}"]),
        regions=[f"r{number}*"] if number % 3 else [],
        input_tokens=number,
        output_tokens=rng.randrange(10**6),
        expected_output_tokens=0,
        max_cost=rng.random(),
        max_price=rng.random() * 20,
        deadline_ms=1000 + number,
    )


def test_no_memory_grows_beyond_its_bound() -> None:
    rng = random.Random(41)
    endpoints = tuple(
        endpoint(
            f"m{i}@p{i:03}",
            model=f"m{i % 7}",
            input_price=i,
            output_price=rng.randrange(100),
            context_window=1000 + i,
            latency_ms=i,
            tokens_per_second=1 + i,
            tags=[f"task-{i}"],
            strong_languages=["de"],
        )
        for i in range(200)
    )
    content = Content(
        currency="EUR",
        endpoints=tuple(sorted(endpoints, key=lambda one: one.endpoint_id)),
        policies=(Policy.read({"policy_id": "p"}),),
        default_policy="p",
    )
    snapshot = Snapshot.of(content, 0)
    router, reader = Router(Served(snapshot), lambda: 0), AskReader()
    for number in range(6000):
        ask = reader.read(pb.DecideRequest(request=_adversarial(rng, number)))
        router.decide(LOCAL, Ask(ask.request))
    sizes = {path: len(_memory(snapshot.index, path)) for path in MEMORIES}
    assert all(sizes[path] <= bound for path, bound in MEMORIES.items()), sizes
    assert sizes["answers"] > ANSWERS * 0.9, "the test filled nothing"
    assert REMEMBERED * 0.9 < len(reader._requests) <= REMEMBERED


def test_requests_under_workloads_are_remembered_within_bounds() -> None:
    rng = random.Random(42)
    workload = Workload.read({"name": "w", "version": "1", "regions": ["EU"], "output_tokens": 10})
    content = Content(
        currency="EUR",
        endpoints=(endpoint("a@eu"),),
        policies=(Policy.read({"policy_id": "p"}),),
        default_policy="p",
        workloads=(workload,),
    )
    snapshot = Snapshot.of(content, 0)
    router, reader = Router(Served(snapshot), lambda: 0), AskReader()
    for number in range(REMEMBERED + 500):
        message = pb.DecideRequest(workload=rng.choice(["w", "W", " w@1"]), request=_adversarial(rng, number))
        with suppress(InvalidRequest):
            router.decide(LOCAL, reader.read(message))
    assert REMEMBERED * 0.9 < len(reader._named) <= REMEMBERED
    assert not reader._requests
    assert REMEMBERED_JOINED // 2 < len(snapshot.workloads._joined) <= REMEMBERED_JOINED


def test_the_same_request_under_a_workload_is_the_same_object_as_decided() -> None:
    reader = AskReader()
    message = pb.DecideRequest(workload="w", request=RouteRequest(input_tokens=0, max_cost=1))
    assert reader.read(message) == reader.read(message)
    assert reader.read(message).named is reader.read(message).named


def test_what_is_large_is_not_remembered() -> None:
    reader = AskReader()
    large = pb.DecideRequest(request=RouteRequest(exclude_endpoints=[f"{i:0200}" for i in range(1000)]))
    reader.read(large)
    assert not reader._requests
    assert large.request.ByteSize() > REMEMBERED_SIZE
    index = Index([endpoint("a@eu")])
    snapshot_policy = Policy.read({"policy_id": "p"})
    decide(index, snapshot_policy, reader.read(large).request, 0)
    assert not index.answers


def test_what_is_remembered_dies_with_its_snapshot() -> None:
    class Watched(Index):
        """An index that can be watched."""

    index = Watched([endpoint("a@eu")])
    policy = Policy.read({"policy_id": "p"})
    decide(index, policy, Request(), 0)
    explain(index, policy, Request(), 0)
    watch = weakref.ref(index)
    del index
    gc.collect()
    assert watch() is None
