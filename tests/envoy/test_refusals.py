"""What a client behind Envoy gets where its request goes nowhere: the status, OpenAI's error, and when to ask again."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any

import openai
import pytest

from tests.envoy.proxy import Envoy
from tests.envoy.world import World

INVALID, PERMISSION = "invalid_request_error", "permission_error"
BAD = "invalid_request"


@pytest.mark.parametrize(
    ("headers", "body", "status", "kind", "code", "param"),
    [
        ({}, {"model": "nn"}, 404, INVALID, "model_not_found", "model"),
        ({"x_router_policy": "cheap"}, {}, 409, INVALID, "no_endpoint_for_policy", None),
        ({"x_router_policy": "clinic"}, {}, 403, PERMISSION, "data_class_not_allowed", None),
        ({"x_router_policy": "secret"}, {}, 403, PERMISSION, "not_allowed", "x-router-policy"),
        ({"x_router_workload": "batch"}, {}, 403, PERMISSION, "not_allowed", "x-router-workload"),
        ({"x_router_max_cost": "1"}, {}, 400, INVALID, BAD, "x-router-max-cost"),
        (
            {"x_router_workload": "chat", "x_router_regions": "FR"},
            {},
            400,
            INVALID,
            "invalid_request",
            "x-router-regions",
        ),
        ({}, {"model": 7}, 400, INVALID, BAD, "the body's model"),
        ({"x_router_tools": "yes"}, {}, 400, INVALID, BAD, "x-router-tools"),
        ({"x_router_polcy": "eu"}, {}, 400, INVALID, BAD, "x-router-polcy"),
    ],
)
def test_a_refusal_reaches_the_client_in_openais_shape(
    world: World, envoy: Envoy, headers: dict[str, str], body: Any, status: int, kind: str, code: str, param: str | None
) -> None:
    got = envoy.post({"model": "auto", **body}, **headers)
    assert (got.status, got.headers["content-type"]) == (status, "application/json")
    assert set(got.json) == {"error"}
    assert set(got.error) == {"message", "type", "param", "code"}
    assert (got.error["type"], got.error["code"], got.error["param"]) == (kind, code, param)
    assert got.headers["x-router-reason"] == code
    assert got.headers["x-should-retry"] == "false"
    assert not world.providers.saw()


def test_a_refusal_is_a_trace_and_says_what_the_engine_says(world: World, envoy: Envoy) -> None:
    got = envoy.post({"model": "nn"})
    refusal = world.trace(got.headers["x-router-trace-id"], reported=False).refusal
    assert (refusal.code, refusal.message) == (got.error["code"], got.error["message"])


def test_all_that_is_wrong_with_the_headers_is_told_at_once(envoy: Envoy) -> None:
    got = envoy.post(
        x_router_input_tokens="-1", x_router_regions="DE,,FR", x_router_residency="moon", x_router_langage="de"
    )
    assert got.status == 400
    for told in ('"-1" makes no sense', "x-router-regions[1]", '"moon"', "did you mean x-router-language"):
        assert told in got.error["message"]


def test_a_body_that_is_no_json_is_refused_and_not_routed_as_if_it_named_no_model(world: World, envoy: Envoy) -> None:
    for headers in ({}, {"content_type": "text/plain"}):
        got = envoy.post(b'{"model": "m", "n": 123456789012345678901234567890', **headers)
        assert (got.status, got.error["param"]) == (400, "body")
    assert not world.providers.saw()


def test_a_spent_budget_says_when_to_ask_again(envoy: Envoy) -> None:
    got = envoy.post(x_router_policy="poor", x_router_input_tokens="5000", x_router_output_tokens="5000")
    assert (got.status, got.error["type"], got.error["code"]) == (429, "rate_limit_error", "budget_exceeded")
    assert 1 <= int(got.headers["retry-after"]) <= 25 * 3600
    assert "x-should-retry" not in got.headers


@pytest.mark.parametrize(
    ("request_line", "status", "code", "told"),
    [
        ("POST /chat/completions HTTP/1.1", 404, "path_not_found", "let the client's base URL end in /v1"),
        ("POST /v1 HTTP/1.1", 404, "path_not_found", "does not begin with /v1/"),
        ("POST /v1/%2e%2e/admin HTTP/1.1", 404, "path_not_found", "does not begin with /v1/"),
        ("POST /v1/..%2fadmin HTTP/1.1", 400, BAD, "path_normalization_failed"),
        ("POST /v1/chat/completions HTTP/1.0", 426, BAD, "send an API request by HTTP/1.1 or HTTP/2"),
        ("POST /v1/chat/completions HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket", 403, BAD, "upgrade_failed"),
        ("POST /v1/chat/completions HTTP/1.1\r\ntransfer-encoding: chunked", 400, BAD, "chunked_not_allowed"),
        (f"POST /v1/chat/completions HTTP/1.1\r\nx-long: {'x' * 70_000}", 431, BAD, "headers_too_large"),
    ],
    ids=["no prefix", "half a prefix", "dots", "slash", "HTTP/1.0", "upgrade", "two lengths", "long header"],
)
def test_what_envoy_itself_does_not_take_goes_nowhere_and_is_told_in_openais_shape(
    world: World, envoy: Envoy, request_line: str, status: int, code: str, told: str
) -> None:
    with socket.create_connection(("127.0.0.1", envoy.port), 20) as connection:
        connection.sendall(f"{request_line}\r\nhost: edge\r\ncontent-length: 2\r\n\r\n{{}}".encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        error = json.loads(answer.read())["error"]
    assert (answer.status, answer.headers["content-type"]) == (status, "application/json")
    assert (error["type"], error["param"], error["code"]) == (INVALID, None, code)
    assert told in error["message"]
    assert not world.providers.saw()


def test_where_no_endpoint_answers_that_is_told_in_openais_shape(world: World, envoy: Envoy) -> None:
    for name in ("alpha", "beta"):
        world.providers.stop(name)
    got = envoy.post()
    assert (got.status, got.attempts) == (503, 2)
    assert (got.error["type"], got.error["code"]) == ("server_error", "endpoints_unavailable")
    assert "remote_connection_failure" in got.error["message"]
    assert world.trace(got.headers["x-router-trace-id"]).reports


def test_openais_sdk_raises_its_own_errors(world: World, envoy: Envoy) -> None:
    with openai.OpenAI(base_url=f"http://127.0.0.1:{envoy.port}/v1", api_key="unused", max_retries=3) as client:
        with pytest.raises(openai.NotFoundError) as missing:
            client.chat.completions.create(model="nn", messages=[{"role": "user", "content": "hi"}])
        assert (missing.value.code, missing.value.param) == ("model_not_found", "model")
        cheap = client.with_options(default_headers={"x-router-policy": "cheap"})
        with pytest.raises(openai.ConflictError):
            cheap.chat.completions.create(model="auto", messages=[{"role": "user", "content": "hi"}])
    assert not world.providers.saw()
