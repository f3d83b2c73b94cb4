"""Errors as SDKs map them, and that there is one owner of retries: the SDK, whose own are on, asks once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import openai
import pytest

from clients.openai_proxy.tests.backend import Backend
from clients.openai_proxy.tests.conftest import Reports
from clients.openai_proxy.tests.world import KEY, ProxyProcess, until

SAID: Any = [{"role": "user", "content": "Good morning?"}]


def refused(sdk: openai.OpenAI, model: str, **more: Any) -> openai.APIStatusError:
    """The error of a request, which the SDK did not try again."""
    with pytest.raises(openai.APIStatusError) as caught:
        sdk.chat.completions.create(model=model, messages=SAID, **more)
    assert caught.value.response.request.headers["x-stainless-retry-count"] == "0"
    return caught.value


@pytest.mark.parametrize(
    ("model", "headers", "kind", "code"),
    [
        ("gone", {}, openai.NotFoundError, "model_not_found"),
        ("vectors", {}, openai.BadRequestError, "not_a_text_model"),
        ("good", {"x-router-residency": "eu-owned"}, openai.ConflictError, "no_endpoint_for_policy"),
        ("good", {"x-router-policy": "poor"}, openai.ConflictError, "no_endpoint_for_policy"),
        ("good", {"x-router-policy": "world"}, openai.PermissionDeniedError, "policy_not_allowed"),
        ("good", {"x-router-workload": "batch"}, openai.PermissionDeniedError, "workload_not_allowed"),
        ("good", {"x-router-workload": "chat@2"}, openai.NotFoundError, "workload_not_found"),
        ("good", {"x-router-max-price": "a lot"}, openai.BadRequestError, "invalid_request"),
        ("unreachable", {}, openai.ConflictError, "all_candidates_excluded"),
    ],
)
def test_what_is_not_decided_goes_nowhere(
    model: str,
    headers: dict[str, str],
    kind: type[openai.APIStatusError],
    code: str,
    sdk: openai.OpenAI,
    backend: Backend,
) -> None:
    error = refused(sdk, model, extra_headers=headers)
    assert type(error) is kind
    assert error.code == code
    assert error.response.headers["x-should-retry"] == "false"
    assert backend.got == []


def test_a_refusal_is_passed_on_as_it_is(sdk: openai.OpenAI) -> None:
    error = refused(sdk, "goode")
    told = error.response.json()
    assert told["error"] == {
        "message": "No endpoint offers the model goode. Did you mean good?",
        "type": "invalid_request_error",
        "param": "model",
        "code": "model_not_found",
    }
    assert told["router"]["close_models"] == ["good"]
    assert error.request_id == told["router"]["trace_id"] == error.response.headers["x-router-trace-id"]


def test_what_has_no_backend_is_said_so(sdk: openai.OpenAI) -> None:
    assert "This proxy has no backend for 2 endpoints of the policy." in refused(sdk, "unreachable").message


def test_every_problem_of_a_request_is_named(proxy: ProxyProcess, backend: Backend) -> None:
    body = {
        "model": 7,
        "messages": [{"role": "user", "content": [{"type": "hologram"}]}, "hello"],
        "max_tokens": 0,
        "modalities": ["text", "audio"],
    }
    headers = {
        "x-router-polcy": "all",
        "x-router-tools": "perhaps",
        "x-router-regions": "DE,",
        "x-client-request-id": "i" * 300,
    }
    answer = httpx2.post(f"{proxy.url}/chat/completions", json=body, headers=headers)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert [one.partition(":")[0] for one in error["message"].split("; ")] == [
        "model",
        "max_tokens",
        "modalities",
        "messages[0].content[0].type",
        "messages[1]",
        "x-router-polcy",
        "did you mean x-router-policy?",
        "x-router-tools",
        "x-router-regions",
        "x-client-request-id",
    ]
    assert (error["type"], error["param"], error["code"]) == ("invalid_request_error", "model", "invalid_request")
    assert backend.got == []


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff", b'{"model": "good"}', b'{"model": "good", "messages": []}']
)
def test_a_body_that_is_none(body: bytes, proxy: ProxyProcess) -> None:
    answer = httpx2.post(f"{proxy.url}/chat/completions", content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")


def test_what_the_service_finds_wrong_is_told_by_the_name_of_the_header(sdk: openai.OpenAI) -> None:
    headers = {"x-router-language": "no language", "x-router-input-tokens": "4000000000"}
    error = refused(sdk, "good", extra_headers=headers)
    assert isinstance(error, openai.BadRequestError)
    assert "x-router-language: " in error.message
    assert "messages: " in error.message


@pytest.mark.parametrize(
    "asked",
    [
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "strnig"}}}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"$ref": "http://x/y"}}}},
        {"tools": [{"type": "function", "function": {"name": "n", "parameters": {"properties": 1}}}]},
        {"tools": [{"type": "retrieval"}]},
    ],
)
def test_a_schema_that_is_none_is_refused_before_anything_is_asked(
    asked: dict[str, Any], sdk: openai.OpenAI, backend: Backend
) -> None:
    error = refused(sdk, "good", **asked)
    assert isinstance(error, openai.BadRequestError)
    assert error.param is not None
    assert error.param.startswith(next(iter(asked)))
    assert backend.got == []


def test_a_schema_that_takes_for_ever_is_given_up(sdk: openai.OpenAI) -> None:
    schema: dict[str, Any] = {"properties": {"city": {"pattern": "^(([a-zA-Z])+)+$"}}, "$defs": {}}
    for number in range(40):
        inner = {"$ref": f"#/$defs/d{number + 1}"}
        schema["$defs"][f"d{number}"] = {"allOf": [inner, inner]}
    schema["$defs"]["d40"] = {"type": "object"}
    asked = {"type": "json_schema", "json_schema": {"name": "n", "schema": {**schema, "$ref": "#/$defs/d0"}}}
    error = refused(sdk, "good", response_format=asked)
    assert (error.status_code, error.code) == (400, "schema_too_costly")
    assert sdk.chat.completions.create(model="good", messages=SAID).choices


@pytest.mark.parametrize(
    ("model", "kind", "code", "message"),
    [
        ("bad", openai.BadRequestError, "invalid_value", "top_p is above 1."),
        ("too-long", openai.BadRequestError, "context_length_exceeded", "Too long."),
        ("final", openai.InternalServerError, "x_should_retry_false", "Never again."),
        ("denied", openai.InternalServerError, "endpoints_failed", "No endpoint could answer. Tried: denied@denied"),
        ("ill", openai.InternalServerError, "endpoints_failed", "ill@ill (transient 503)"),
        ("refused", openai.InternalServerError, "endpoints_failed", "refused@refused (transient), refused@refused"),
        ("reset", openai.InternalServerError, "outcome_unknown", "reset@reset (ambiguous)"),
        ("no-json", openai.InternalServerError, "invalid_response", "no-json@no-json (invalid_response 200)"),
        ("no-http", openai.InternalServerError, "outcome_unknown", "no-http@no-http (ambiguous)"),
        ("moved", openai.InternalServerError, "endpoints_failed", "moved@moved"),
    ],
)
def test_what_endpoints_did(
    model: str, kind: type[openai.APIStatusError], code: str, message: str, sdk: openai.OpenAI, backend: Backend
) -> None:
    error = refused(sdk, model)
    assert type(error) is kind
    assert error.code == code
    assert message in error.message
    assert error.response.headers["x-should-retry"] == "false"
    assert error.response.json()["router"]["attempts"][0]["endpoint_id"] == f"{model}@{model}"
    assert KEY not in error.response.text
    assert {one.behaviour for one in backend.got} <= {model}  # a redirect is not followed


def test_a_credential_that_the_endpoint_quotes_is_taken_out(sdk: openai.OpenAI) -> None:
    error = refused(sdk, "quotes")
    assert "Header was Bearer ***." in error.message
    assert error.param == "top_p"


def test_a_limit_says_how_long(sdk: openai.OpenAI, backend: Backend, reports: Reports) -> None:
    # Without a deadline it would be waited for, as long as somebody is there who asks.
    error = refused(sdk, "limited", extra_headers={"x-router-deadline-ms": "3000"})
    assert isinstance(error, openai.RateLimitError)
    assert (error.code, error.response.headers["retry-after"]) == ("rate_limit_exceeded", "7")
    assert len(backend.got) == 1
    # Once that is reported it is left out, which the service says with the time that is left.
    assert reports.of(error.request_id or "").attempts[0].retry_after_ms == 7000
    again = refused(sdk.with_options(max_retries=0), "limited")
    assert (again.status_code, again.code) == (503, "no_endpoint_available")
    assert 1 <= int(again.response.headers["retry-after"]) <= 7
    assert "x-should-retry" not in again.response.headers  # nothing was tried, and it goes by itself
    assert len(backend.got) == 1


def test_a_deadline_that_is_over(sdk: openai.OpenAI, backend: Backend, reports: Reports) -> None:
    error = refused(sdk, "waits", extra_headers={"x-router-deadline-ms": "2000"})
    assert (error.status_code, error.code) == (502, "outcome_unknown")  # it was sent, and nothing came
    report = reports.of(error.response.json()["router"]["trace_id"])
    assert report.attempts[0].timeout_ms <= 1900
    until(backend.left.is_set)  # it was hung up on
    assert refused(sdk, "good", extra_headers={"x-router-deadline-ms": "1"}).code in {
        "deadline_exhausted",  # already
        "no_endpoint_for_policy",  # deadline_unreachable
    }


@pytest.mark.parametrize(
    ("method", "path", "status", "says"),
    [
        ("POST", "/v1/embeddings", 404, "only text models are routed"),
        ("POST", "/v1/responses", 404, "use chat.completions"),
        ("GET", "/v1/responses/r-1", 404, "use chat.completions"),
        ("POST", "/v1/completions", 404, "use chat.completions"),
        ("POST", "/v1/audio/speech", 404, "is not served"),
        ("GET", "/v1/chat/completions", 405, "takes POST, not GET"),
        ("GET", "/elsewhere", 404, "Not Found"),
    ],
)
def test_what_is_not_served(method: str, path: str, status: int, says: str, proxy: ProxyProcess) -> None:
    answer = httpx2.request(method, proxy.root + path)
    assert answer.status_code == status
    assert says in answer.json()["error"]["message"]
    assert answer.headers["x-should-retry"] == "false"


def test_embeddings_of_the_sdk(sdk: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="only text models are routed"):
        sdk.embeddings.create(model="vectors", input="words")
    with pytest.raises(openai.NotFoundError, match=r"use chat\.completions"):
        sdk.responses.create(model="good", input="words")


def test_the_service_away_means_503_and_nothing_is_called(start: Callable[..., ProxyProcess], backend: Backend) -> None:
    proxy = start(service={"target": "127.0.0.1:1", "timeout_ms": 300})
    with openai.OpenAI(base_url=proxy.url, api_key="k", max_retries=0) as sdk:
        error = refused(sdk, "good")
        assert (error.status_code, error.code) == (503, "router_unavailable")
        assert "x-should-retry" not in error.response.headers
        with pytest.raises(openai.InternalServerError, match="cannot decide now"):
            sdk.models.list()
    assert backend.got == []
    assert httpx2.get(f"{proxy.root}/healthz").status_code == 200
    ready = httpx2.get(f"{proxy.root}/readyz")
    assert (ready.status_code, ready.json()) == (503, {"status": "router_unavailable"})


def test_limits(start: Callable[..., ProxyProcess], backend: Backend) -> None:
    proxy = start(limits={"requests": 1, "request_bytes": 2048})
    body = {"model": "good", "messages": [{"role": "user", "content": "x" * 3000}]}
    answer = httpx2.post(f"{proxy.url}/chat/completions", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large")
    with openai.OpenAI(base_url=proxy.url, api_key="k", max_retries=0) as sdk:
        with sdk.chat.completions.create(model="endless", messages=SAID, stream=True) as stream:
            next(iter(stream))
            error = refused(sdk, "good")
        assert (error.status_code, error.code) == (503, "too_many_requests")
        assert error.response.headers["retry-after"] == "1"
    assert backend.left.wait(5)
