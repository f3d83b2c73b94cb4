"""Acceptance: what passes, what does not and why, and that nothing of an answer is in what it says."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from router_service_client import CallFailed
from router_service_client.acceptance import Acceptance
from router_service_client.envelopes import Envelope, anthropic_envelope

SCHEMA = {
    "type": "object",
    "properties": {"total": {"type": "number"}, "day": {"type": "string", "format": "date"}},
    "required": ["total"],
    "additionalProperties": False,
}
TOOLS = {"pay": {"type": "object", "properties": {"amount": {"type": "integer", "minimum": 1}}, "required": ["amount"]}}


def chat(content: str | None = "words", ended: str = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content, **more}, "finish_reason": ended}]}


def calling(name: str, arguments: str) -> dict[str, Any]:
    calls = [{"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}]
    return chat(None, "tool_calls", tool_calls=calls)


STRUCTURED = Acceptance(schema=SCHEMA)
WITH_TOOLS = Acceptance(schema=SCHEMA, tools=TOOLS)


@pytest.mark.parametrize(
    ("accept", "answer", "wrong"),
    [
        (Acceptance(), chat(), ""),
        (Acceptance(), json.dumps(chat()), ""),
        (Acceptance(), json.dumps(chat()).encode(), ""),
        (Acceptance(), "secret", "the envelope does not parse"),
        (Acceptance(), [chat()], "the envelope does not parse"),
        (Acceptance(), {"choices": []}, "the envelope does not parse"),
        (Acceptance(), {"error": {"message": "secret"}}, "the envelope does not parse"),
        (Acceptance(), chat(["secret"]), "the envelope does not parse"),  # type: ignore[arg-type]
        (Acceptance(), chat(ended="length"), "the answer is cut off"),
        (Acceptance(whole=False), chat(ended="length"), ""),
        (STRUCTURED, chat('{"total": 12.5}'), ""),
        (STRUCTURED, chat(' \n{"total": 12.5}\n'), ""),
        (STRUCTURED, chat('```json\n{"total": 12.5}\n```'), "the answer: no JSON"),
        (STRUCTURED, chat("{'total': 12.5}"), "the answer: no JSON"),
        (STRUCTURED, chat('{"total": NaN}'), "the answer: no JSON"),
        (STRUCTURED, chat(""), "the answer: no JSON"),
        (STRUCTURED, chat('{"total": "secret"}'), "the answer: not of its schema at /properties/total/type"),
        (STRUCTURED, chat('{"total": 1, "secret": 1}'), "the answer: not of its schema at /additionalProperties"),
        (STRUCTURED, chat('{"total": 1, "day": "secret"}'), "the answer: not of its schema at /properties/day/format"),
        (STRUCTURED, chat("{}"), "the answer: not of its schema at /required"),
        (WITH_TOOLS, calling("pay", '{"amount": 3}'), ""),
        (WITH_TOOLS, calling("secret", "{}"), "a tool that is not registered"),
        (WITH_TOOLS, calling("pay", '{"amount": '), "the arguments of pay: no JSON"),
        (
            WITH_TOOLS,
            calling("pay", '{"amount": 0}'),
            "the arguments of pay: not of its schema at /properties/amount/minimum",
        ),
        (Acceptance(), calling("pay", "{}"), "a tool that is not registered"),
        (Acceptance(checks=[lambda told: "too short" if len(told.text) < 9 else None]), chat("secret"), "too short"),
        (Acceptance(checks=[lambda told: None]), chat("secret"), ""),
    ],
)
def test_what_is_wrong(accept: Acceptance, answer: object, wrong: str) -> None:
    said = accept(answer)
    assert said == wrong
    assert "secret" not in said


@pytest.mark.parametrize("answer", [chat("", "content_filter"), chat(None, refusal="I cannot.")], ids=str)
def test_a_refusal_of_the_content_ends_the_run(answer: object) -> None:
    with pytest.raises(CallFailed) as raised:
        Acceptance()(answer)
    assert raised.value.seen.kind == "content_refused"


def test_answers_of_anthropic() -> None:
    accept = Acceptance(tools=TOOLS, envelope=anthropic_envelope)
    text = {"type": "text", "text": "words"}
    use = {"type": "tool_use", "id": "1", "name": "pay", "input": {"amount": 3}}
    assert accept({"content": [text, use], "stop_reason": "tool_use"}) == ""
    assert accept({"content": [text], "stop_reason": "max_tokens"}) == "the answer is cut off"
    assert accept({"content": [{**use, "input": {}}]}) == "the arguments of pay: not of its schema at /required"
    assert accept({"content": None}) == "the envelope does not parse"
    with pytest.raises(CallFailed):
        accept({"content": [], "stop_reason": "refusal"})


def test_answers_of_sdks_are_read() -> None:
    class Completion:
        def model_dump(self) -> dict[str, Any]:
            return chat()

    assert Acceptance()(Completion()) == ""


def test_a_schema_must_be_one() -> None:
    with pytest.raises(jsonschema.SchemaError):
        Acceptance(schema={"type": "odd"})


def test_an_envelope_of_ones_own() -> None:
    assert Acceptance(envelope=lambda answer: Envelope(str(answer)), schema={"const": 1})("1") == ""


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:1/schema"},
        {"properties": {"total": {"$ref": "#/$defs/missing"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"$ref": "other.json"}]},
    ],
)
def test_a_schema_that_refers_to_what_is_not_in_it_is_none_and_nothing_is_fetched(schema: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.SchemaError, match="is not in the schema"):
        Acceptance(schema=schema)


def test_a_schema_may_refer_to_itself() -> None:
    node = {"properties": {"next": {"$ref": "#/$defs/node"}}, "type": "object"}
    accept = Acceptance(schema={"$defs": {"node": node}, "$ref": "#/$defs/node"})
    assert accept(chat('{"next": {"next": {}}}')) == ""
    assert accept(chat('{"next": 1}')) == "the answer: not of its schema at /properties/next/type"


@pytest.mark.parametrize(("schema", "content"), [({"$ref": "#"}, "{}"), ({}, "[" * 100_000)])
def test_what_never_ends_is_not_accepted(schema: dict[str, Any], content: str) -> None:
    assert Acceptance(schema=schema)(chat(content)).startswith("the answer: nested too deeply")


def test_a_custom_tool_takes_free_text() -> None:
    def custom(name: str, text: object) -> dict[str, Any]:
        return chat(None, tool_calls=[{"id": "1", "type": "custom", "custom": {"name": name, "input": text}}])

    accept = Acceptance(tools={"shell": None, **TOOLS})
    assert accept(custom("shell", "ls {")) == ""
    assert accept(custom("shell", {})) == "the arguments of shell: no text"
    assert accept(custom("python", "1")) == "a tool that is not registered"
    assert accept(calling("pay", '{"amount": 1}')) == ""
