"""A real Envoy tries the endpoints in the decision's order, each by its own name, credential, path and model."""

from __future__ import annotations

import pytest

from tests.envoy import providers as does
from tests.envoy.providers import Answer
from tests.envoy.proxy import Envoy
from tests.envoy.world import NAMES, World, listed, until, write_credential

CLIENTS = "Bearer of-the-client"


def test_the_first_endpoint_answers_and_the_client_is_told_by_which_decision(world: World, envoy: Envoy) -> None:
    got = envoy.post({"model": "m", "messages": []})
    assert (got.status, got.json, got.attempts) == (200, {"from": "alpha"}, 1)
    trace = world.trace(got.headers["x-router-trace-id"])
    assert listed(trace) == ["m@alpha", "m@beta"]
    assert got.headers["x-router-reason"] == trace.decision.sentence
    assert trace.request.model == "m"


@pytest.mark.parametrize(
    "fault",
    [
        *(does.answers(status) for status in (401, 402, 403, 404, 408, 425, 429, 500, 502, 503, 504, 520, 529)),
        does.resets,
        does.hangs,
    ],
    ids=[*"401 402 403 404 408 425 429 500 502 503 504 520 529".split(), "reset", "hang"],
)
def test_an_endpoint_that_fails_is_followed_by_the_next(world: World, envoy: Envoy, fault: Answer) -> None:
    world.providers["alpha"].answer = fault
    got = envoy.post()
    assert (got.status, got.json, got.attempts) == (200, {"from": "beta"}, 2)
    assert [seen.provider for seen in world.providers.saw()] == ["alpha", "beta"]


def test_one_that_refuses_connections_is_followed_by_the_next(world: World, envoy: Envoy) -> None:
    world.providers.stop("alpha")
    got = envoy.post()
    assert (got.status, got.json) == (200, {"from": "beta"})


@pytest.mark.parametrize("status", [400, 409, 413, 415, 422])
def test_what_is_the_requests_own_fault_is_not_tried_again(world: World, envoy: Envoy, status: int) -> None:
    world.providers["alpha"].answer = does.answers(status)
    got = envoy.post()
    assert (got.status, got.attempts) == (status, 1)
    assert [seen.provider for seen in world.providers.saw()] == ["alpha"]


def test_the_list_ends_with_the_decisions_last_endpoint_and_none_is_tried_twice(world: World, envoy: Envoy) -> None:
    for name in ("alpha", "beta", "gamma"):
        world.providers[name].answer = does.answers(503)
    got = envoy.post()
    assert (got.status, got.attempts) == (503, 2)
    assert [seen.provider for seen in world.providers.saw()] == ["alpha", "beta"]


def test_a_client_may_name_a_policy_that_the_route_lists_and_gets_its_longer_list(world: World, envoy: Envoy) -> None:
    for name in ("alpha", "beta"):
        world.providers[name].answer = does.answers(500)
    got = envoy.post({"model": "m"}, x_router_policy="world")
    assert (got.status, got.json, got.attempts) == (200, {"from": "gamma"}, 3)


def test_each_attempt_has_the_host_the_name_the_credential_the_path_and_the_model_of_its_endpoint(
    world: World, envoy: Envoy
) -> None:
    for name in ("alpha", "beta"):
        world.providers[name].answer = does.answers(429)
    body = b' {"messages":[{"content":"a \\"model\\": \\u00e9 }"}], "model" : "m" , "n":1.10}'
    got = envoy.post(
        body,
        path="/v1/chat/completions?trace=1",
        x_router_policy="world",
        authorization=CLIENTS,
        api_key="k",
        cookie="c",
    )
    assert got.status == 200
    seen = world.providers.saw()
    assert [(one.provider, one.sni, one.headers["host"]) for one in seen] == [
        (name, f"{name}.localhost", f"{name}.localhost") for name in ("alpha", "beta", "gamma")
    ]
    assert [one.headers["authorization"] for one in seen] == [f"Bearer key-of-{one.provider}" for one in seen]
    assert [one.path for one in seen] == [
        "/v1/chat/completions?trace=1",
        "/openai/v1/chat/completions?trace=1",
        "/chat/completions?trace=1",
    ]
    models = [b'"alpha/m-1"', b'"m"', b'"m \\"x\\""']
    assert [one.body for one in seen] == [body.replace(b'"m"', model) for model in models]


PREFIXES = """\
currency: EUR
default_policy: eu
models: [{{model: m}}]
endpoints:
- {{endpoint_id: first, model: m, provider: alpha, country: FR, sovereignty: eu-owned, input_price: 1,
   address: "{alpha}"}}
- {{endpoint_id: second, model: m, provider: beta, country: FR, sovereignty: eu-owned, input_price: 5,
   address: "{beta}/chat"}}
- {{endpoint_id: third, model: m, provider: gamma, country: FR, sovereignty: eu-owned, input_price: 9,
   address: "{gamma}/v1/openai"}}
policies: [{{policy_id: eu}}]
"""


@pytest.mark.parametrize("world_arguments", [(PREFIXES, NAMES)])
def test_a_path_of_a_provider_that_looks_like_a_clients_is_not_taken_for_it(own_world: World) -> None:
    world = own_world
    world.serve()
    envoy = world.start_envoy(world.print(policies=("eu",)))
    until(lambda: envoy.post().status == 200)
    for path, rest in (("/v1/chat/completions", "chat/completions"), ("/v1/openai/chat?a=/v1/", "openai/chat?a=/v1/")):
        world.providers.reset()
        for name in ("alpha", "beta"):
            world.providers[name].answer = does.answers(503)
        assert envoy.post(path=path).json == {"from": "gamma"}
        assert [one.path for one in world.providers.saw()] == [f"/{rest}", f"/chat/{rest}", f"/v1/openai/{rest}"]


def test_a_request_without_a_body_has_none_at_the_provider(world: World, envoy: Envoy) -> None:
    world.providers["alpha"].answer = does.answers(503)
    assert envoy.post(path="/v1/models", method="GET").json == {"from": "beta"}
    for seen in world.providers.saw():
        assert not {"transfer-encoding", "content-length"} & set(seen.headers)


def test_what_a_provider_says_of_its_own_host_does_not_reach_the_client(world: World, envoy: Envoy) -> None:
    said = {
        "location": "https://elsewhere.example/",
        "set_cookie": "a=b",
        "alt_svc": 'h3=":443"',
        "strict_transport_security": "max-age=1",
        "x_router_reason": "forged",
        "x_router_trace_id": "0" * 32,
        "openai_version": "2020-10-01",
    }
    world.providers["alpha"].answer = does.answers(307, **said)
    got = envoy.post()
    assert (got.status, got.headers["openai-version"]) == (307, "2020-10-01")
    assert not {"location", "set-cookie", "alt-svc", "strict-transport-security"} & set(got.headers)
    assert world.trace(got.headers["x-router-trace-id"]).decision.sentence == got.headers["x-router-reason"]


def test_nothing_of_the_client_or_of_the_decision_goes_to_a_provider(world: World, envoy: Envoy) -> None:
    world.providers["alpha"].answer = does.answers(503)
    envoy.post(
        authorization=CLIENTS,
        api_key="k",
        x_api_key="k",
        cookie="c",
        x_forwarded_for="10.1.2.3",
        x_router_task="coding",
    )
    allowed = {"host", "accept-encoding", "content-type", "content-length", "x-request-id", "authorization"}
    for seen in world.providers.saw():
        assert set(seen.headers) <= allowed
        assert "of-the-client" not in str(seen.headers)


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (b'{"model":"m","model":"other"}', b'{"model":"alpha/m-1","model":"alpha/m-1"}'),
        (b'{"mod\\u0065l":"m"}', b'{"mod\\u0065l":"alpha/m-1"}'),
        (b"{}", b'{"model":"alpha/m-1"}'),
        (b'{"a":[{"model":"x"},"]"],"b":{"c":"}"}}', b'{"model":"alpha/m-1","a":[{"model":"x"},"]"],"b":{"c":"}"}}'),
        (b'{"a":true , "model":null}', b'{"a":true , "model":"alpha/m-1"}'),
        (b'\xef\xbb\xbf {"model":"m"}', b'\xef\xbb\xbf {"model":"alpha/m-1"}'),
        (b'{"a":"\\\\","b":-1.5e3,"c":[],"model":"m"}', b'{"a":"\\\\","b":-1.5e3,"c":[],"model":"alpha/m-1"}'),
        (b"[1]", b"[1]"),
    ],
)
def test_no_writing_of_the_model_gets_past_the_rewrite(world: World, envoy: Envoy, body: bytes, sent: bytes) -> None:
    got = envoy.post(body, x_router_model="m")
    assert got.status == 200
    assert [seen.body for seen in world.providers.saw()] == [sent]


def test_a_credential_that_is_renewed_is_used_and_one_that_is_missing_is_the_next_ones_turn(own_world: World) -> None:
    world = own_world
    beta = world.providers["beta"]
    world.serve()
    envoy = world.start_envoy(world.print())
    until(lambda: envoy.post().status == 200)
    alpha = world.providers["alpha"]
    write_credential(world.credentials, f"{alpha.host}_{alpha.port}", "Bearer renewed")

    def renewed() -> bool:
        envoy.post()
        return alpha.seen[-1].headers["authorization"] == "Bearer renewed"

    until(renewed)

    async def refuses(exchange: does.Exchange) -> None:
        known = "authorization" in exchange.seen.headers
        await exchange.send(200 if known else 401)

    alpha.answer = refuses
    write_credential(world.credentials, f"{alpha.host}_{alpha.port}", "")
    until(lambda: envoy.post().json == {"from": "beta"})
    assert beta.seen[-1].headers["authorization"] == "Bearer key-of-beta"
