"""External processing with a real Envoy: pools of addresses in the decision's order, reported on the same stream."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.envoy import pool
from tests.envoy import providers as does
from tests.envoy.providers import Providers
from tests.envoy.proxy import Envoy
from tests.envoy.world import World, attempts, listed, until

CATALOG = """\
currency: EUR
default_policy: eu
models: [{{model: m}}, {{model: far}}]
endpoints:
- {{endpoint_id: m@a, model: m, provider: a, country: FR, sovereignty: eu-owned, latency_ms: 100, address: "{a}/v1"}}
- {{endpoint_id: m@b, model: m, provider: b, country: FR, sovereignty: eu-owned, latency_ms: 300, address: "{b}/v1"}}
- {{endpoint_id: m@c, model: m, provider: c, country: DE, sovereignty: eu-hosted, latency_ms: 500, address: "{c}"}}
- {{endpoint_id: m@d, model: m, provider: d, country: US, sovereignty: global, latency_ms: 50, address: "{d}/v1"}}
- {{endpoint_id: m@named, model: m, provider: e, country: FR, sovereignty: eu-owned, latency_ms: 1,
   address: "https://e.eu/v1"}}
- {{endpoint_id: far@none, model: far, provider: e, country: FR, sovereignty: eu-owned}}
policies:
- {{policy_id: eu, residency: [eu-hosted]}}
- {{policy_id: world, residency: [eu-hosted, global]}}
circuits: {{failures_in_row: 100, least_attempts: 1000, rate_limited_ms: 0, refused_ms: 0, least_observations: 1000}}
"""
NAMES = ("a", "b", "c", "d")


class PoolWorld(World):
    """A world without TLS, whose Envoy asks by external processing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.providers = Providers(lambda _: None)
        for name in NAMES:
            self.providers.start(name)
        self.catalog = folder / "catalog.yaml"
        self.catalog.write_text(CATALOG.format(**{name: f"http://{self.place(name)}" for name in NAMES}))
        self.server = self.envoy = None

    def place(self, name: str) -> str:
        return f"127.0.0.1:{self.providers[name].port}"

    def configure(self, **how: dict[str, str]) -> str:
        assert self.server is not None
        return pool.configuration(self.server.target, [one.port for one in self.providers.by_name.values()], **how)


@pytest.fixture(scope="module")
def shared_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PoolWorld]:
    world = PoolWorld(tmp_path_factory.mktemp("pool"))
    try:
        world.serve()
        context = {"policy": "eu", "policies": "world", "task": "retrieval"}
        envoy = world.start_envoy(world.configure(context=context))
        until(lambda: envoy.post().status == 200)
        yield world
    finally:
        world.close()


@pytest.fixture
def world(shared_world: PoolWorld) -> PoolWorld:
    shared_world.providers.reset()
    return shared_world


def test_the_listed_addresses_are_tried_in_the_decisions_order(world: PoolWorld, envoy: Envoy) -> None:
    for name in ("a", "b"):
        world.providers[name].answer = does.answers(503)
    got = envoy.post()
    assert (got.status, got.json, got.attempts) == (200, {"from": "c"}, 3)
    trace = world.trace(got.headers["x-router-trace-id"])
    assert listed(trace) == ["m@a", "m@b", "m@c"]
    assert got.headers["x-router-reason"] == trace.decision.sentence
    seen = world.providers.saw()
    assert [one.provider for one in seen] == ["a", "b", "c"]
    assert {one.headers[pool.DESTINATION] for one in seen} == {",".join(world.place(name) for name in ("a", "b", "c"))}


def test_the_list_is_strict_and_none_is_tried_twice(world: PoolWorld, envoy: Envoy) -> None:
    for name in NAMES:
        world.providers[name].answer = does.answers(503)
    got = envoy.post()
    assert (got.status, got.attempts) == (503, 3)
    assert [one.provider for one in world.providers.saw()] == ["a", "b", "c"]


def test_the_same_stream_tells_what_came_of_it(world: PoolWorld, envoy: Envoy) -> None:
    world.providers.stop("a")
    world.providers["b"].answer = does.answers(500)
    trace = world.trace(envoy.post().headers["x-router-trace-id"])
    told = [(one.attempt_id, one.endpoint_id, one.failure_class, one.status_code) for one in attempts(trace)]
    assert told == [("1", "m@a", "transient", 0), ("2", "m@b", "transient", 0), ("3", "m@c", "", 200)]
    assert [report.outcome for report in trace.reports] == ["accepted"]
    assert trace.reports[0].operation_id == trace.operation_id == world.providers["c"].seen[0].headers["x-request-id"]


@pytest.mark.parametrize(
    ("status", "failure", "outcome"),
    [
        (200, "", "accepted"),
        (404, "incompatible", "failed"),
        (429, "transient", "failed"),
        (400, "permanent", "failed"),
    ],
)
def test_the_last_status_is_the_reports(
    world: PoolWorld, envoy: Envoy, status: int, failure: str, outcome: str
) -> None:
    for name in NAMES:
        world.providers[name].answer = does.answers(status)
    got = envoy.post()
    trace = world.trace(got.headers["x-router-trace-id"])
    assert (got.status, attempts(trace)[-1].status_code) == (status, status)
    assert (attempts(trace)[-1].failure_class, trace.reports[0].outcome) == (failure, outcome)
    assert len(attempts(trace)) == len(world.providers.saw())


def test_a_list_that_cannot_be_reached_is_reported_to_its_end(world: PoolWorld, envoy: Envoy) -> None:
    for name in NAMES:
        world.providers.stop(name)
    got = envoy.post()
    assert got.status == 503
    trace = world.trace(got.headers["x-router-trace-id"])
    assert [(one.endpoint_id, one.failure_class) for one in attempts(trace)] == [
        (f"m@{name}", "transient") for name in ("a", "b", "c")
    ]
    assert trace.reports[0].outcome == "failed"


def test_a_client_that_hangs_up_is_reported_as_that(world: PoolWorld, envoy: Envoy) -> None:
    world.providers["a"].answer = does.hangs
    with socket.create_connection(("127.0.0.1", envoy.port), 20) as connection:
        connection.sendall(b"POST /v1/x HTTP/1.1\r\nhost: edge\r\ncontent-length: 2\r\n\r\n{}")
        until(lambda: world.providers["a"].seen)
    trace = world.trace_of(world.providers["a"].seen[0].headers["x-request-id"])
    assert [report.outcome for report in trace.reports] == ["cancelled"]


def test_subset_hints_narrow_and_where_none_is_left_it_is_503(world: PoolWorld, envoy: Envoy) -> None:
    got = envoy.post(x_subset=f"{world.place('c')}, {world.place('b')},10.9.9.9:1")
    assert got.json == {"from": "b"}
    assert listed(world.trace(got.headers["x-router-trace-id"])) == ["m@b", "m@c"]
    world.providers.reset()
    for nothing in ("10.9.9.9:1", world.place("d")):
        got = envoy.post(x_subset=nothing)
        assert (got.status, got.error["type"]) == (503, "server_error")
    assert not world.providers.saw()


def test_the_operators_context_goes_before_headers_and_lists_what_a_client_may_name(
    world: PoolWorld, envoy: Envoy
) -> None:
    got = envoy.post(x_router_policy="world", x_router_task="coding")
    trace = world.trace(got.headers["x-router-trace-id"])
    assert (trace.policy_id, trace.request.task) == ("world", "retrieval")
    refused = envoy.post(x_router_policy="other")
    assert (refused.status, refused.error["code"]) == (403, "not_allowed")


def test_refusals_reach_the_client(world: PoolWorld, envoy: Envoy) -> None:
    got = envoy.post(x_router_model="nn")
    assert (got.status, got.error["code"], got.headers["x-router-reason"]) == (
        404,
        "model_not_found",
        "model_not_found",
    )
    bad = envoy.post(x_router_tools="maybe", x_router_langage="de")
    assert bad.status == 400
    assert "x-router-tools" in bad.error["message"]
    assert "x-router-language" in bad.error["message"]
    far = envoy.post(x_router_model="far")
    assert (far.status, far.error["code"]) == (503, "all_candidates_excluded")
    assert not world.providers.saw()


@pytest.mark.parametrize(
    "modes",
    [
        {"request_body_mode": "BUFFERED"},
        {"request_body_mode": "STREAMED"},
        {"request_body_mode": "FULL_DUPLEX_STREAMED", "response_body_mode": "FULL_DUPLEX_STREAMED"},
        {"response_body_mode": "STREAMED"},
    ],
    ids=lambda modes: ",".join(f"{name}={mode}" for name, mode in modes.items()),
)
def test_modes_that_send_bodies_are_refused_by_name_and_do_not_hang(tmp_path: Path, modes: dict[str, str]) -> None:
    world = PoolWorld(tmp_path)
    try:
        world.serve()
        envoy = world.start_envoy(world.configure(modes={**pool.NONE, **modes}))
        got = envoy.post()
        assert (got.status, got.error["code"]) == (500, "route_misconfigured")
        for name, mode in modes.items():
            assert f"processing_mode.{name} is {mode}; set it to NONE" in got.error["message"]
        assert not world.providers.saw()
    finally:
        world.close()


def test_without_the_service_nothing_reaches_the_pool(tmp_path: Path) -> None:
    world = PoolWorld(tmp_path)
    try:
        server = world.serve()
        envoy = world.start_envoy(world.configure())
        until(lambda: envoy.post().status == 200)
        world.providers.reset()
        server.process.kill()
        until(lambda: envoy.post().status == 503)
        world.providers.reset()
        assert {envoy.post().status for _ in range(10)} == {503}
        assert not world.providers.saw()
    finally:
        world.close()


def test_a_request_outlives_the_service_that_decided_it(tmp_path: Path) -> None:
    world = PoolWorld(tmp_path)
    try:
        server = world.serve("--grace", "1")
        envoy = world.start_envoy(world.configure())
        until(lambda: envoy.post().status == 200)
        ended = threading.Event()

        async def answers_late(exchange: does.Exchange) -> None:
            await asyncio.to_thread(ended.wait, 60)
            await exchange.send(200, b'{"from": "a"}')

        world.providers.reset()
        world.providers["a"].answer = answers_late
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(envoy.post)
            until(lambda: world.providers["a"].seen)
            assert server.stop() == 0
            ended.set()
            assert (asked.result().status, asked.result().json) == (200, {"from": "a"})
    finally:
        world.close()
