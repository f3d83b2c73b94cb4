"""The body of a chat completion: what a decision needs of it, and what of it makes no sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from router_openai_proxy.asking import tokens
from router_openai_proxy.asking.content import read_messages
from router_openai_proxy.asking.router_headers import TEXT_MAX
from router_openai_proxy.errors import Problem

_READ = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TOKENS_MAX = 2**32 - 1


@dataclass(slots=True)
class Chat:
    """A body: its members as they came (`raw`), those that are looked at, and its problems."""

    raw: dict[str, msgspec.Raw] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    model: str = ""
    stream: bool = False
    wants_usage: bool = False
    modalities: set[str] = field(default_factory=set)
    input_tokens: int = 0
    output_tokens: int | None = None
    tools: list[Any] = field(default_factory=list)
    requires_tools: bool = False
    response_format: Mapping[str, Any] = field(default_factory=dict)

    @property
    def structured_output(self) -> str:
        """The guarantee that the response format asks for."""
        kind = self.response_format.get("type")
        if kind == "json_schema":
            schema = self.response_format.get("json_schema")
            return "strict" if isinstance(schema, dict) and schema.get("strict") is True else "json-schema"
        return "json-object" if kind == "json_object" else "none"


def read_chat(body: bytes) -> Chat:
    """What a body says. Members that are not looked at are passed on as they are."""
    chat = Chat()
    try:
        chat.raw = _READ.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
        chat.problems.append(Problem("", f"the body must be a JSON object: {wrong}"))
        return chat
    values = {name: _decoded(chat, name) for name in _LOOKED_AT if name in chat.raw}
    _read_plain(chat, values)
    content = read_messages(values.get("messages"))
    chat.problems += content.problems
    chat.modalities = content.modalities
    extra = [*chat.tools, *([chat.response_format] if chat.response_format else [])]
    chat.input_tokens = content.input_tokens + sum(round(tokens.of_json(one)) for one in extra)
    return chat


_LOOKED_AT = (
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "tools",
    "tool_choice",
    "functions",
    "response_format",
    "modalities",
)


def _decoded(chat: Chat, name: str) -> Any:
    try:
        return msgspec.json.decode(chat.raw[name])
    except (msgspec.MsgspecError, UnicodeDecodeError) as wrong:
        chat.problems.append(Problem(name, f"is no JSON: {wrong}"))
        return None


def _read_plain(chat: Chat, values: dict[str, Any]) -> None:
    """All but the messages."""
    chat.model = _typed(chat, values, "model", str, "the id of a model, or auto", "")
    is_id = 0 < len(chat.model) <= TEXT_MAX and chat.model.isprintable()
    if not is_id and not any(one.param == "model" for one in chat.problems):
        chat.problems.append(Problem("model", f"must be the id of a model of 1 to {TEXT_MAX} characters, or auto"))
    chat.stream = _typed(chat, values, "stream", bool, "true or false", default=False)
    options = _typed(chat, values, "stream_options", dict, "an object", {})
    chat.wants_usage = options.get("include_usage") is True
    asked = [_count(chat, values, name) for name in ("max_completion_tokens", "max_tokens")]
    chat.output_tokens = max((one for one in asked if one is not None), default=None)
    chat.tools = _typed(chat, values, "tools", list, "a list", [])
    functions = _typed(chat, values, "functions", list, "a list", [])
    chat.requires_tools = bool(chat.tools or functions) and values.get("tool_choice") != "none"
    chat.response_format = _typed(chat, values, "response_format", dict, "an object", {})
    kind = chat.response_format.get("type", "text")
    if kind not in ("text", "json_object", "json_schema"):
        chat.problems.append(Problem("response_format.type", "must be text, json_object or json_schema"))
    spoken = _typed(chat, values, "modalities", list, "a list", [])
    if set(map(str, spoken)) - {"text"}:
        chat.problems.append(Problem("modalities", "must be text: only text comes out of what is routed here"))


def _typed(chat: Chat, values: dict[str, Any], name: str, kind: type, what: str, default: Any) -> Any:
    """A member that is of its type, or absent or null; else a problem."""
    value = values.get(name)
    if value is None:
        return default
    if not isinstance(value, kind):
        chat.problems.append(Problem(name, f"must be {what}"))
        return default
    return value


def _count(chat: Chat, values: dict[str, Any], name: str) -> int | None:
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _TOKENS_MAX:
        chat.problems.append(Problem(name, f"must be a whole number from 1 to {_TOKENS_MAX}"))
        return None
    return value
