"""What an answer of a provider's API holds, as acceptance looks at it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class NotAnEnvelope(Exception):
    """The answer does not have the form that its API gives answers."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called; `arguments` as they came: JSON text, what it stands for, or free text."""

    name: str
    arguments: object


@dataclass(frozen=True, slots=True)
class Envelope:
    """Text, tool calls, and how it ended: `truncated` by a limit of tokens, `refused` by a filter or the model."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    truncated: bool = False
    refused: bool = False


def parsed_object(answer: object) -> Mapping[str, Any]:
    """An answer as a JSON object, of its text or bytes too; what has `model_dump`, as SDKs' answers do, is one."""
    if isinstance(answer, str | bytes):
        try:
            answer = json.loads(answer)
        except ValueError as wrong:
            raise NotAnEnvelope from wrong
    elif callable(dump := getattr(answer, "model_dump", None)):
        answer = dump()
    if not isinstance(answer, Mapping):
        raise NotAnEnvelope
    return answer


def openai_envelope(answer: object) -> Envelope:
    """A chat completion of OpenAI's API and of all that are alike: its first choice. Raises NotAnEnvelope."""
    try:
        choice = parsed_object(answer)["choices"][0]
        message = choice["message"]
        calls = tuple(_openai_call(one) for one in message.get("tool_calls") or ())
        text, ended = message.get("content") or "", choice.get("finish_reason")
        refused = ended == "content_filter" or bool(message.get("refusal"))
    except (KeyError, IndexError, TypeError, AttributeError) as wrong:
        raise NotAnEnvelope from wrong
    if not isinstance(text, str):
        raise NotAnEnvelope
    return Envelope(text, calls, ended == "length", refused)


def _openai_call(call: Mapping[str, Any]) -> ToolCall:
    """A call of a function with arguments, or of a custom tool that takes text."""
    if call.get("type") == "custom":
        return ToolCall(str(call["custom"]["name"]), call["custom"]["input"])
    return ToolCall(str(call["function"]["name"]), call["function"]["arguments"])


def anthropic_envelope(answer: object) -> Envelope:
    """A message of Anthropic's API. Raises NotAnEnvelope."""
    try:
        message = parsed_object(answer)
        blocks = message["content"]
        text = "".join(one["text"] for one in blocks if one["type"] == "text")
        calls = tuple(ToolCall(str(one["name"]), one["input"]) for one in blocks if one["type"] == "tool_use")
        ended = message.get("stop_reason")
    except (KeyError, TypeError, AttributeError) as wrong:
        raise NotAnEnvelope from wrong
    return Envelope(text, calls, ended in {"max_tokens", "model_context_window_exceeded"}, ended == "refusal")
