"""What an answer must be that is not streamed: of its schema, with tools of the request and arguments of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import SchemaError

from router_openai_proxy.asking.chat import Chat
from router_openai_proxy.calling import Answer
from router_openai_proxy.errors import Problem, bad_request
from router_openai_proxy.guard import TooCostly, bounded
from router_service_client.acceptance import Acceptance

_ANY_OBJECT = {"type": "object"}


class Accepting:
    """The checks of one request, on every choice of an answer. Raises ApiError where a schema of it is none."""

    def __init__(self, chat: Chat) -> None:
        problems: list[Problem] = []
        schema = _answer_schema(chat.response_format, problems)
        tools = _tool_schemas(chat, problems)
        if problems:
            raise bad_request(problems)
        # What was asked for as JSON is of no use in part; of free text a part may be what max_tokens was meant for.
        self._acceptance = Acceptance(schema=schema, tools=tools, whole=schema is not None)

    def __call__(self, answer: Answer) -> str:
        """What is wrong with an answer; empty where it is accepted. Raises CallFailed, or TooCostly."""
        choices = answer.parsed.get("choices")
        if not isinstance(choices, list) or not choices:
            return "the answer has no choices"
        with bounded():
            return next((wrong for one in choices if (wrong := self._acceptance({"choices": [one]}))), "")


def _answer_schema(response_format: Mapping[str, Any], problems: list[Problem]) -> Mapping[str, Any] | None:
    kind = response_format.get("type")
    if kind == "json_object":
        return _ANY_OBJECT
    if kind != "json_schema":
        return None
    named = response_format.get("json_schema")
    schema = named.get("schema", {}) if isinstance(named, dict) else None
    return _checked(schema, "response_format.json_schema.schema", problems)


def _tool_schemas(chat: Chat, problems: list[Problem]) -> dict[str, Mapping[str, Any] | None]:
    """The schemas of arguments by the names of tools; a custom tool takes free text."""
    found: dict[str, Mapping[str, Any] | None] = {}
    for number, tool in enumerate(chat.tools):
        place = f"tools[{number}]"
        kind = tool.get("type", "function") if isinstance(tool, dict) else None
        inner = tool.get(kind) if isinstance(tool, dict) and isinstance(kind, str) else None
        if kind not in ("function", "custom") or not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
            problems.append(Problem(place, "must be a function or a custom tool with a name"))
        elif kind == "custom":
            found[inner["name"]] = None
        else:
            parameters = inner.get("parameters")
            schema = _ANY_OBJECT if parameters is None else parameters
            found[inner["name"]] = _checked(schema, f"{place}.function.parameters", problems)
    return found


def _checked(schema: object, place: str, problems: list[Problem]) -> Mapping[str, Any] | None:
    """A schema that is one."""
    if not isinstance(schema, dict):
        problems.append(Problem(place, "must be a JSON Schema, as an object"))
        return None
    try:
        with bounded():
            Acceptance(schema=schema)
    except SchemaError as wrong:
        where = "/".join(map(str, wrong.path))
        problems.append(Problem(place, f"is no JSON Schema{' at /' + where if where else ''}: {wrong.message[:200]}"))
        return None
    except (TooCostly, RecursionError):
        problems.append(Problem(place, "is too large to be checked"))
        return None
    return schema
