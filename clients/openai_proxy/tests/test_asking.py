"""What a decision is asked with: read from bodies and headers, joined, and bounded by what callers may name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from multidict import CIMultiDict

from router_openai_proxy.asking import tokens
from router_openai_proxy.asking.asked import Asked, read_request
from router_openai_proxy.asking.chat import read_chat
from router_openai_proxy.asking.router_headers import read_headers
from router_openai_proxy.config.values import Access
from router_openai_proxy.errors import ApiError

HELLO = [{"role": "user", "content": "Good morning?"}]
ACCESS = Access(
    policy="eu", policies=frozenset({"eu", "strict"}), workloads=frozenset({"chat", "batch@2"}), deadline_ms=9000
)


def asked(headers: dict[str, str] | None = None, *, access: Access = ACCESS, **body: Any) -> Asked:
    written = json.dumps({"model": "m", "messages": HELLO, **body}).encode()
    return read_request(written, CIMultiDict(headers or {}), access)


def fields(headers: dict[str, str] | None = None, **body: Any) -> dict[str, Any]:
    return {**asked(headers, **body).fields}


def parts(*content: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": list(content)}]


def test_a_plain_request_needs_little() -> None:
    plain = asked(access=Access())
    assert plain.fields == {
        "model": "m",
        "input_tokens": 8,
        "modalities": ["text"],
        "requires_tools": False,
        "structured_output": "none",
    }
    assert (plain.policy_id, plain.workload, plain.data_class, plain.operation_id) == ("", "", "", "")
    assert plain.deadline_ms is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"max_tokens": 7}, {"output_tokens": 7}),
        ({"max_completion_tokens": 9, "max_tokens": 7}, {"output_tokens": 9}),
        ({"max_tokens": None, "tools": None}, {"requires_tools": False}),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, {"requires_tools": True}),
        (
            {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "none"},
            {"requires_tools": False},
        ),
        ({"functions": [{"name": "f"}]}, {"requires_tools": True}),
        ({"response_format": {"type": "text"}}, {"structured_output": "none"}),
        ({"response_format": {"type": "json_object"}}, {"structured_output": "json-object"}),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, {"structured_output": "json-schema"}),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"strict": True}}},
            {"structured_output": "strict"},
        ),
        ({"messages": parts({"type": "text", "text": "a"}, {"type": "image_url"})}, {"modalities": ["image", "text"]}),
        ({"messages": parts({"type": "input_audio"})}, {"modalities": ["audio"]}),
        ({"messages": parts({"type": "video_url"}, {"type": "file"})}, {"modalities": ["file", "video"]}),
        ({"messages": [{"role": "assistant", "content": None}]}, {"modalities": ["text"]}),
    ],
)
def test_bodies(body: dict[str, Any], expected: dict[str, Any]) -> None:
    found = fields(**body)
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("word", 1), ("wörd", 1.25), ("слово", 2.5), ("早上好", 3), ("👋", 1.5)]
)
def test_tokens_of_text(text: str, count: float) -> None:
    assert tokens.of_text(text) == count


@pytest.mark.parametrize(
    ("messages", "count"),
    [
        (HELLO, 4 + 13 / 4),
        (HELLO * 3, 3 * (4 + 13 / 4)),
        (parts({"type": "image_url", "image_url": {"url": "data:" + "A" * 9000}}), 4 + 1000),
        (parts({"type": "image_url", "image_url": {"url": "x", "detail": "low"}}), 4 + 100),
        (parts({"type": "input_audio", "input_audio": {"data": "A" * 5000}}), 4 + 10),
        (parts({"type": "file", "file": {"file_data": "A" * 4000}}), 4 + 200),
        (parts({"type": "file", "file": {"file_id": "f-1"}}), 4 + 2000),
        ([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "x" * 40}}]}], 4 + 41 / 4),
    ],
)
def test_tokens_of_messages(messages: list[Any], count: float) -> None:
    chat = read_chat(json.dumps({"model": "m", "messages": messages}).encode())
    assert not chat.problems
    assert chat.input_tokens == -(-count // 1)


def test_tools_and_schemas_count_too() -> None:
    tool = {"type": "function", "function": {"name": "f", "description": "x" * 400}}
    assert 90 < fields(tools=[tool])["input_tokens"] - fields()["input_tokens"] < 130


HEADERS = {
    "x-router-task": "coding",
    "X-Router-Language": "de",
    "x-router-residency": "eu-owned",
    "x-router-regions": "DE, fr-*",
    "x-router-input-tokens": "1200",
    "x-router-output-tokens": "400",
    "x-router-modalities": "image,text",
    "x-router-tools": "true",
    "x-router-structured-output": "json-schema",
    "x-router-max-price": "2.5",
    "x-router-max-cost": "0.01",
    "x-router-deadline-ms": "8000",
    "x-router-policy": "strict",
    "x-router-workload": "chat@3",
    "x-router-data-class": "personal",
    "x-client-request-id": "order-17",
}


def test_headers() -> None:
    found = asked(HEADERS)
    assert found.fields == {
        "model": "m",
        "task": "coding",
        "language": "de",
        "residency": "eu-owned",
        "regions": ["DE", "fr-*"],
        "input_tokens": 1200,
        "output_tokens": 400,
        "modalities": ["image", "text"],
        "requires_tools": True,
        "structured_output": "json-schema",
        "max_price": 2.5,
        "max_cost": 0.01,
    }
    assert (found.policy_id, found.workload, found.data_class) == ("strict", "chat@3", "personal")
    assert (found.operation_id, found.deadline_ms) == ("order-17", 8000)


def test_a_header_adds_to_what_the_body_needs_and_takes_nothing_away() -> None:
    body: dict[str, Any] = {
        "max_tokens": 500,
        "tools": [{"type": "function", "function": {"name": "f"}}],
        "response_format": {"type": "json_schema", "json_schema": {"strict": True}},
        "messages": parts({"type": "image_url"}),
    }
    less = {
        "x-router-output-tokens": "5",
        "x-router-tools": "false",
        "x-router-structured-output": "none",
        "x-router-modalities": "text",
        "x-router-deadline-ms": "60000",
    }
    found = asked(less, **body)
    assert found.fields["output_tokens"] == 500
    assert found.fields["requires_tools"] is True
    assert found.fields["structured_output"] == "strict"
    assert found.fields["modalities"] == ["image", "text"]
    assert found.deadline_ms == 9000


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("x-router-deadline-ms", "-1", "must be a whole number"),
        ("x-router-deadline-ms", "1e3", "must be a whole number"),
        ("x-router-input-tokens", "4294967296", "must be a whole number from 0 to 4294967295"),
        ("x-router-input-tokens", "٣", "must be a whole number"),
        ("x-router-max-price", "nan", "must be a number such as 2.5"),
        ("x-router-max-price", "0.0000001", "with six decimal places at most"),
        ("x-router-tools", "yes", "must be one of true, false"),
        ("x-router-residency", "EU", "must be one of eu-owned, eu-hosted, any"),
        ("x-router-modalities", "text,smell", "must be one of text, image"),
        ("x-router-structured-output", "", "must be one of none"),
        ("x-router-regions", ",".join(["DE"] * 65), "must have at most 64 entries, and has 65"),
        ("x-router-regions", "DE,,FR", "must be a text of 1 to 256"),
        ("x-router-task", "x" * 257, "must be a text of 1 to 256"),
        ("x-router-task", "a\udce4", "printable"),
        ("x-router-model", "m", "there is no such header"),
        ("x-router-datacalss", "p", "did you mean x-router-data-class?"),
    ],
)
def test_headers_that_make_no_sense(name: str, value: str, what: str) -> None:
    (problem,) = read_headers(CIMultiDict({name: value})).problems
    assert problem.param == name
    assert what in problem.what


def test_a_header_is_there_once_unless_it_is_a_list() -> None:
    twice = CIMultiDict(
        [("x-router-task", "a"), ("X-Router-Task", "b"), ("x-router-regions", "DE"), ("x-router-regions", "FR")]
    )
    found = read_headers(twice)
    assert [(one.param, one.what) for one in found.problems] == [("x-router-task", "is there 2 times; send it once")]
    assert found.said == {"regions": ["DE", "FR"]}


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"x-router-policy": "world"}, "policy_not_allowed"),
        ({"x-router-policy": "EU"}, "policy_not_allowed"),
        ({"x-router-workload": "batch"}, "workload_not_allowed"),
        ({"x-router-workload": "batch@3"}, "workload_not_allowed"),
        ({"x-router-workload": "chatter@1"}, "workload_not_allowed"),
    ],
)
def test_what_a_client_may_not_name(headers: dict[str, str], code: str) -> None:
    with pytest.raises(ApiError) as caught:
        asked(headers)
    assert (caught.value.status, caught.value.code) == (403, code)


def test_what_a_client_may_name() -> None:
    assert asked({"x-router-policy": "eu", "x-router-workload": "batch@2"}).workload == "batch@2"
    assert asked({"x-router-workload": "chat"}).policy_id == "eu"


def test_time_goes_by_before_the_decision() -> None:
    found = asked({"x-router-deadline-ms": "100"})
    assert found.fields_after(40)["deadline_ms"] == 60
    with pytest.raises(ApiError, match="before anything was decided") as caught:
        found.fields_after(100)
    assert caught.value.status == 504


def test_members_that_are_not_looked_at_stay_as_they_are() -> None:
    chat = read_chat(
        b'{"model":"m","messages":[{"content":"x"}],"seed":12345678901234567890123,"logit_bias":{"7": 1.50}}'
    )
    assert bytes(chat.raw["seed"]) == b"12345678901234567890123"
    assert bytes(chat.raw["logit_bias"]) == b'{"7": 1.50}'


def test_what_is_said_twice_is_read_as_it_is_sent_on() -> None:
    chat = read_chat(b'{"model":"a","messages":[{"content":"x"}],"model":"b"}')
    assert (chat.model, bytes(chat.raw["model"])) == ("b", b'"b"')


@pytest.mark.parametrize("model", [None, "", "x" * 257, 7, "a\nb"])
def test_a_model_is_needed(model: Any) -> None:
    chat = read_chat(json.dumps({"model": model, "messages": HELLO}).encode())
    assert [one.param for one in chat.problems][-1:] == ["model"]
