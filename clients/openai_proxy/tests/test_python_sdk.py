"""OpenAI's Python SDK as it is, with another base URL: plain, streamed, tools, images, structured output."""

from __future__ import annotations

from typing import Any

import openai
import pydantic
import pytest

from clients.openai_proxy.tests.backend import USAGE, Backend
from clients.openai_proxy.tests.behaviours import TEXT
from clients.openai_proxy.tests.conftest import Reports
from clients.openai_proxy.tests.world import KEY, ProxyProcess
from router_service_client import RouterClient

SAID: Any = [{"role": "user", "content": "Good morning?"}]
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

STRICT_WEATHER: Any = {**WEATHER, "function": {**WEATHER["function"], "strict": True}}


class Weather(pydantic.BaseModel):
    city: str
    degrees: int


def block(answer: Any) -> dict[str, Any]:
    """What the proxy puts beside the standard fields."""
    told: dict[str, Any] = answer.model_extra["router"]
    return told


def test_a_plain_answer(sdk: openai.OpenAI, reports: Reports) -> None:
    answer = sdk.chat.completions.create(model="good", messages=SAID, max_tokens=50, temperature=0.5)
    assert answer.choices[0].message.content == TEXT
    assert answer.usage is not None
    assert answer.usage.total_tokens == USAGE["total_tokens"]
    told = block(answer)
    assert {name: told[name] for name in ("model", "model_version", "provider", "endpoint_id", "region")} == {
        "model": "good",
        "model_version": "v7",
        "provider": "p",
        "endpoint_id": "good@good",
        "region": "eu-1",
    }
    assert (told["sovereignty"], told["policy_id"], told["retention"]) == ("eu-hosted", "all", "30d")
    assert told["estimated_cost"] == pytest.approx((told_tokens(reports, told["trace_id"]) + 50) / 1e6)
    assert told["reason"].startswith("Pinned to good for a general task")
    assert [one["endpoint_id"] for one in told["attempts"]] == ["good@good"]
    report = reports.of(told["trace_id"])
    assert (report.outcome, report.attempts[0].input_tokens, report.attempts[0].output_tokens) == ("accepted", 11, 5)
    assert (report.attempts[0].finish_reason, report.attempts[0].validation_result) == ("stop", "accepted")


def told_tokens(reports: Reports, trace_id: str) -> int:
    """The tokens that the service was told of: an estimate, and nothing else of the words."""
    request = reports.router.get_trace(trace_id).request
    assert "morning" not in str(request)
    return request.input_tokens


def test_the_backend_gets_its_own_credential_and_name_of_the_model_and_nothing_of_the_client(
    sdk: openai.OpenAI, backend: Backend
) -> None:
    sdk.chat.completions.create(model="good", messages=SAID, extra_headers={"x-router-language": "de", "X-Mine": "me"})
    (got,) = backend.got
    assert got.path == "/good/v1/chat/completions"
    assert got.headers["host"] == f"127.0.0.1:{backend.port}"
    assert got.headers["authorization"] == f"Bearer {KEY}"
    assert got.headers["x-title"] == "tests"
    assert got.body == {"model": "good-2026-11", "messages": SAID}
    assert not [name for name in got.headers if name.startswith(("x-router", "x-stainless", "x-mine"))]
    assert "the client's own" not in str(got.headers)


def test_the_facts_are_in_the_headers_too(sdk: openai.OpenAI) -> None:
    raw = sdk.chat.completions.with_raw_response.create(model="good", messages=SAID)
    told = block(raw.parse())
    assert raw.headers["x-router-trace-id"] == told["trace_id"] == raw.request_id
    assert raw.headers["x-router-endpoint-id"] == "good@good"
    assert raw.headers["x-router-reason"] == told["reason"]
    assert raw.headers["x-router-attempts"] == "1"
    assert raw.headers["x-router-policy-id"] == "all"
    assert raw.headers["server"] == "router-openai-proxy"


def test_a_stream(sdk: openai.OpenAI, backend: Backend, reports: Reports) -> None:
    chunks = list(sdk.chat.completions.create(model="good", messages=SAID, stream=True))
    assert "".join(one.choices[0].delta.content or "" for one in chunks) == TEXT
    assert [one.choices[0].finish_reason for one in chunks if one.choices[0].finish_reason] == ["stop"]
    assert [one.model_extra for one in chunks[:-1]] == [{}] * (len(chunks) - 1)
    told = block(chunks[-1])
    assert (told["endpoint_id"], len(told["attempts"])) == ("good@good", 1)
    # It was asked for its tokens, for the report; the client did not ask, and sees nothing of them.
    assert backend.got[0].body["stream_options"] == {"include_usage": True}
    assert all(one.usage is None and "usage" not in one.model_fields_set for one in chunks)
    attempt = reports.of(told["trace_id"]).attempts[0]
    assert (attempt.input_tokens, attempt.output_tokens, attempt.finish_reason) == (11, 5, "stop")
    assert attempt.HasField("time_to_first_token_ms")


def test_a_stream_with_usage(sdk: openai.OpenAI, backend: Backend) -> None:
    options: Any = {"include_usage": True, "include_obfuscation": False}
    chunks = list(sdk.chat.completions.create(model="good", messages=SAID, stream=True, stream_options=options))
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == USAGE["total_tokens"]
    assert chunks[-1].choices == []
    assert block(chunks[-1])["endpoint_id"] == "good@good"
    assert backend.got[0].body["stream_options"] == options


def test_the_headers_of_a_stream_come_with_its_first_word(sdk: openai.OpenAI, backend: Backend) -> None:
    with sdk.chat.completions.with_streaming_response.create(model="pause", messages=SAID, stream=True) as raw:
        assert raw.headers["x-router-endpoint-id"] == "pause@pause"
        assert raw.headers["content-type"].startswith("text/event-stream")
        first = next(iter(raw.parse()))
        assert first.choices[0].delta.role == "assistant"
        assert not backend.go_on.is_set()
        backend.go_on.set()


def test_tools(sdk: openai.OpenAI) -> None:
    answer = sdk.chat.completions.create(model="good", messages=SAID, tools=[WEATHER])
    (call,) = answer.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert (call.function.name, call.function.arguments) == ("weather", '{"city": "Bonn"}')
    assert block(answer)["attempts"][0]["failure_class"] is None


def test_streamed_tools(sdk: openai.OpenAI) -> None:
    with sdk.chat.completions.stream(model="good", messages=SAID, tools=[WEATHER]) as stream:
        final = stream.get_final_completion()
    (call,) = final.choices[0].message.tool_calls or []
    assert call.function.arguments == '{"city": "Bonn"}'


def test_images_need_a_model_that_sees(sdk: openai.OpenAI, backend: Backend, reports: Reports) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 200_000}}
    said: Any = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}]
    answer = sdk.chat.completions.create(model="good", messages=said)
    assert backend.got[0].body["messages"] == said
    request = reports.router.get_trace(block(answer)["trace_id"]).request
    assert list(request.modalities) == ["image", "text"]
    assert 1000 < request.input_tokens < 1100  # the picture's letters are no words


def test_structured_output_is_parsed(sdk: openai.OpenAI, reports: Reports) -> None:
    answer = sdk.chat.completions.parse(model="good", messages=SAID, response_format=Weather)
    assert answer.choices[0].message.parsed == Weather(city="Bonn", degrees=21)
    assert reports.router.get_trace(block(answer)["trace_id"]).request.structured_output == "strict"


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        ("wrong-schema-then-good", {"response_format": Weather}),
        ("wrong-tool-then-good", {"tools": [STRICT_WEATHER]}),
        ("wrong-arguments-then-good", {"tools": [STRICT_WEATHER]}),
    ],
)
def test_what_is_not_as_asked_for_comes_from_the_next(model: str, asked: dict[str, Any], sdk: openai.OpenAI) -> None:
    told = block(sdk.chat.completions.parse(model=model, messages=SAID, **asked))
    assert [one["failure_class"] for one in told["attempts"]] == ["invalid_response", None]


def test_a_model_that_is_unwilling_says_so_to_its_client(
    sdk: openai.OpenAI, backend: Backend, reports: Reports
) -> None:
    answer = sdk.chat.completions.parse(model="unwilling-then-good", messages=SAID, response_format=Weather)
    assert answer.choices[0].message.refusal == "I will not."
    assert [one.behaviour for one in backend.got] == ["unwilling"]
    report = reports.of(block(answer)["trace_id"])
    assert (report.outcome, report.attempts[0].error_code) == ("failed", "content_filter")


async def test_the_sdk_of_asyncio(proxy: ProxyProcess) -> None:
    async with openai.AsyncOpenAI(base_url=proxy.url, api_key="k") as client:
        stream = await client.chat.completions.create(model="good", messages=SAID, stream=True)
        assert "".join([one.choices[0].delta.content or "" async for one in stream]) == TEXT


def test_models(sdk: openai.OpenAI, service: str) -> None:
    models = {one.id: one for one in sdk.models.list()}
    assert next(iter(models)) == "auto"
    assert {"good", "ill", "ill-then-good", "unreachable-then-good"} <= models.keys()
    assert not {"vectors", "unreachable"} & models.keys()  # no text model; no backend
    assert models["good"].owned_by == "p"
    extra = models["ill-then-good"].model_extra
    assert extra is not None
    assert {one["endpoint_id"] for one in extra["router"]["endpoints"]} == {"ill@ill-then-good", "good@ill-then-good"}
    assert sdk.models.retrieve("good").id == "good"
    with pytest.raises(openai.NotFoundError, match="reaches no model gone"):
        sdk.models.retrieve("gone")
    with RouterClient(service) as router:
        explained = router.explain().explanation
    assert explained.decision.considered > len(models)
