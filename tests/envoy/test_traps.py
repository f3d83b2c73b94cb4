"""What has turned failover off, or sent a request to an arbitrary provider, in Envoys that were configured by hand."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from router_service.v1 import router_service_pb2 as pb
from tests.envoy import providers as does
from tests.envoy.conftest import ATTEMPT_S
from tests.envoy.proxy import Envoy
from tests.envoy.world import World, attempts, listed, until

EXTRA = """\
- {{endpoint_id: m@new, model: m, provider: new, country: FR, sovereignty: eu-owned, latency_ms: 100,
   input_price: 0.1, output_price: 0.1, address: "{address}"}}
"""


def add_endpoint(world: World, address: str) -> None:
    """Another endpoint that ranks before all others."""
    text = world.catalog.read_text()
    before, mark, after = text.partition("policies:\n")
    world.catalog.write_text(before + EXTRA.format(address=address) + mark + after)


def test_a_cluster_that_envoy_does_not_have_is_never_listed(own_world: World) -> None:
    world = own_world
    server = world.serve()
    envoy = world.start_envoy(world.print())
    until(lambda: envoy.post().status == 200)
    seen = len(server.lines)
    add_endpoint(world, "https://new.localhost:1/v1")
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("catalogue loaded", after=seen)
    direct = server.router.Decide(pb.DecideRequest())
    assert direct.decision.candidates[0].endpoint_id == "m@new"
    got = envoy.post()
    assert (got.status, got.json) == (200, {"from": "alpha"})
    trace = world.trace(got.headers["x-router-trace-id"])
    assert listed(trace) == ["m@alpha", "m@beta"]
    assert trace.decision.reasons["excluded_by_request"] == 1
    # A configuration that is printed again has it.
    assert "m@new" in world.print()


def test_where_envoy_has_none_of_what_is_left_it_is_503(world: World, other_envoy: Callable[[str], Envoy]) -> None:
    config = world.print()
    for cluster in ("m@alpha", "m@beta"):
        config = config.replace(f"clusters: {cluster},", "clusters: ").replace(f"{cluster},m@gamma", "m@gamma")
    envoy = other_envoy(config)
    got = envoy.until(lambda got: "x-router-trace-id" in got.headers)
    assert (got.status, got.error["code"], got.error["type"]) == (503, "all_candidates_excluded", "server_error")
    assert "x-should-retry" not in got.headers
    assert not world.providers.saw()


def test_a_name_that_never_resolves_is_reported_and_soon_left_out(own_world: World) -> None:
    world = own_world
    add_endpoint(world, "https://nowhere.invalid/v1")
    world.catalog.write_text(world.catalog.read_text().replace("failures_in_row: 100", "failures_in_row: 2"))
    world.serve()
    envoy = world.start_envoy(world.print("--open", "nowhere.invalid"))
    # Envoy itself gives up at once, so only the circuit helps.
    first = envoy.until(lambda got: "x-router-trace-id" in got.headers)
    assert (first.status, first.error["code"]) == (503, "endpoints_unavailable")
    assert "no_healthy_upstream" in first.error["message"]
    (attempt,) = attempts(world.trace(first.headers["x-router-trace-id"]))
    assert (attempt.endpoint_id, attempt.failure_class) == ("m@new", "transient")
    got = envoy.until(lambda got: got.status == 200)
    assert got.json == {"from": "alpha"}


def test_a_body_over_the_limit_is_refused_and_not_sent_without_failover(
    world: World, other_envoy: Callable[[str], Envoy]
) -> None:
    envoy = other_envoy(world.print("--body-limit", "65536"))
    until(lambda: envoy.post().status == 200)
    world.providers.reset()
    world.providers["alpha"].answer = does.answers(503)
    assert envoy.post({"model": "m", "text": "x" * 50_000}).json == {"from": "beta"}
    world.providers.reset()
    got = envoy.post({"model": "m", "text": "x" * 100_000})
    assert (got.status, got.error["code"]) == (413, "body_too_large")
    assert "more than 65536 bytes; send less" in got.error["message"]
    assert not world.providers.saw()


def test_a_body_of_some_megabytes_keeps_its_failover(world: World, envoy: Envoy) -> None:
    world.providers["alpha"].answer = does.answers(503)
    got = envoy.post({"image": "x" * 5_000_000, "model": "m"})
    assert (got.status, got.json) == (200, {"from": "beta"})
    assert [seen.json["model"] for seen in world.providers.saw()] == ["alpha/m-1", "m"]
    assert {len(seen.json["image"]) for seen in world.providers.saw()} == {5_000_000}


def test_many_requests_fail_over_at_the_same_time(world: World, envoy: Envoy) -> None:
    async def slowly_fails(exchange: does.Exchange) -> None:
        await asyncio.sleep(0.3)
        await exchange.send(503)

    world.providers["alpha"].answer = slowly_fails
    with ThreadPoolExecutor(32) as pool:
        got = list(pool.map(lambda _: envoy.post(), range(64)))
    assert {one.status for one in got} == {200}
    assert {one.json["from"] for one in got} == {"beta"}


def test_headers_of_envoys_own_that_a_client_sends_change_nothing(world: World, envoy: Envoy) -> None:
    for name in ("alpha", "beta"):
        world.providers[name].answer = does.answers(503)
    got = envoy.post(
        x_envoy_max_retries="9",
        x_envoy_retry_on="5xx",
        x_envoy_upstream_rq_per_try_timeout_ms="1",
        x_envoy_upstream_rq_timeout_ms="1",
        x_envoy_original_path="/other",
        x_router_upstream_model="mine",
        x_router_trace_id="0" * 32,
    )
    assert (got.status, got.attempts) == (400, 0)  # x-router-upstream-model is no header of a client's
    got = envoy.post(x_envoy_max_retries="9", x_envoy_upstream_rq_per_try_timeout_ms="1", x_router_trace_id="0" * 32)
    assert (got.status, got.attempts) == (503, 2)
    assert got.headers["x-router-trace-id"] != "0" * 32
    assert [seen.provider for seen in world.providers.saw()] == ["alpha", "beta"]


def test_requests_that_say_the_same_id_have_each_their_own_report(world: World, envoy: Envoy) -> None:
    async def every_other_fails(exchange: does.Exchange) -> None:
        failing = len(world.providers["alpha"].seen) % 2
        await asyncio.sleep(0.2)
        await exchange.send(503 if failing else 200)

    world.providers["alpha"].answer = every_other_fails
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: envoy.post(x_request_id="the-same"), range(24)))
    traces = [world.trace(one.headers["x-router-trace-id"]) for one in got]
    assert [len(attempts(trace)) for trace in traces] == [one.attempts for one in got]
    assert {one.attempts for one in got} == {1, 2}
    ids = {trace.operation_id for trace in traces}
    assert len(ids) == len(got)
    assert "the-same" not in ids


def test_an_attempt_gets_the_first_allowance_of_its_deadline(world: World, envoy: Envoy) -> None:
    world.providers["alpha"].answer = does.hangs
    got = envoy.post(x_router_deadline_ms="2400")
    assert got.json == {"from": "beta"}
    trace = world.trace(got.headers["x-router-trace-id"])
    allowance = trace.decision.candidates[0].allowance_ms
    assert 0 < allowance < 1000 * ATTEMPT_S  # and not the time-out of attempts that have no deadline
    hung = attempts(trace)[0]
    assert (hung.endpoint_id, hung.failure_class) == ("m@alpha", "ambiguous")
    assert 0.9 * allowance <= hung.latency_ms


def test_a_provider_with_another_certificate_is_not_spoken_to(own_world: World) -> None:
    world = own_world
    alpha, beta = world.providers["alpha"], world.providers["beta"]
    world.catalog.write_text(world.catalog.read_text().replace(f"{beta.host}:", f"{alpha.host}:"))
    # beta's endpoint is called by alpha's name now, and answers with its own certificate.
    world.catalog.write_text(world.catalog.read_text().replace(f"alpha.localhost:{alpha.port}", "gone.localhost:1"))
    world.serve()
    envoy = world.start_envoy(world.print("--open", "gone.localhost_1", "--open", f"alpha.localhost_{beta.port}"))
    got = envoy.until(lambda got: "x-router-trace-id" in got.headers, x_router_policy="world")
    assert got.json == {"from": "gamma"}
    assert not beta.seen


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "ended"])
def test_without_the_service_every_request_is_503_and_none_reaches_a_provider(own_world: World, number: int) -> None:
    world = own_world
    server = world.serve()
    envoy = world.start_envoy(world.print())
    until(lambda: envoy.post().status == 200)
    server.stop(number)
    world.providers.reset()
    for _ in range(20):
        got = envoy.post()
        assert (got.status, got.error["code"], got.error["type"]) == (503, "router_unavailable", "server_error")
        assert "x-should-retry" not in got.headers
    assert not world.providers.saw()
    world.serve(listen=server.target)
    until(lambda: envoy.post().status == 200)


def test_a_service_that_says_not_serving_is_not_asked(own_world: World) -> None:
    world = own_world
    server = world.serve("--drain-delay", "20")
    envoy = world.start_envoy(world.print())
    until(lambda: envoy.post().status == 200)
    server.process.send_signal(signal.SIGTERM)
    until(lambda: envoy.stats("router-service.*membership_healthy").popitem()[1] == 0)
    world.providers.reset()
    assert server.router.Decide(pb.DecideRequest()).HasField("decision")  # it would answer
    got = envoy.post()
    assert (got.status, world.providers.saw()) == (503, [])
    server.process.send_signal(signal.SIGTERM)


def test_a_request_without_a_decision_goes_to_no_provider(world: World, other_envoy: Callable[[str], Envoy]) -> None:
    """Where the filter is taken out of the configuration, nothing chooses a cluster, and the default is empty."""
    config = world.print()
    begin = config.index("          - name: envoy.filters.http.ext_authz")
    end = config.index("          - name: envoy.filters.http.router", begin)
    envoy = other_envoy(config[:begin] + config[end:])
    for _ in range(5):
        assert envoy.post().status == 503
    assert not world.providers.saw()


def test_a_route_that_names_no_clusters_is_told_so(world: World, other_envoy: Callable[[str], Envoy]) -> None:
    server = world.server
    assert server is not None
    config = world.print()
    line = next(line for line in config.splitlines() if " clusters: m@alpha" in line)
    envoy = other_envoy(config.replace(line, "").replace("policies: ", "polices: "))
    got = envoy.until(lambda got: "x-router-reason" in got.headers)
    assert (got.status, got.error["code"]) == (500, "route_misconfigured")
    assert "context_extensions.polices: unknown field; did you mean policies?" in got.error["message"]
    assert not world.providers.saw()
    assert any("route_misconfigured" in line for line in server.lines)
    assert got.error["type"] == "server_error"
