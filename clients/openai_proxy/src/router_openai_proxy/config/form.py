"""Holds a document to config/schema.json, and says in plain words what of it is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator

from router_openai_proxy.config.marks import Located, Path
from router_openai_proxy.config.problems import Problem, written

_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
}


def schema_text() -> str:
    """The JSON Schema of a configuration, for editors."""
    return resources.files(__package__).joinpath("schema.json").read_text("utf-8")


@cache
def schema() -> Mapping[str, Any]:
    """The same, parsed."""
    return json.loads(schema_text())  # type: ignore[no-any-return]


def problems_of_form(located: Located) -> Iterator[Problem]:
    """Everything that is not as the schema has it."""
    for line, what in located.problems:
        yield Problem(line, "", what)
    if located.value is None and not located.problems:
        yield Problem(1, "", "the file is empty; it needs at least backends")
    if located.value is None:
        return
    for error in Draft202012Validator(schema()).iter_errors(located.value):
        yield from _told(error, located)


def _told(error: Any, located: Located) -> Iterator[Problem]:
    path: Path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema["properties"]
        for key in error.instance.keys() - known.keys():
            yield Problem(located.line((*path, key)), written((*path, key)), _unknown(key, list(known)))
        return
    if error.validator == "required":
        for key in error.validator_value:
            if key not in error.instance:
                about = error.schema["properties"][key]["description"]
                yield Problem(located.line(path), written((*path, key)), f"is missing. {about}")
        return
    yield Problem(located.line(path), written(path), _SAYS[str(error.validator)](error))


def _unknown(key: str, known: list[str]) -> str:
    close = get_close_matches(key, known, 1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
    return f"there is no such key; {hint}"


def _is(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:80]


# By the schema's keyword that refuses a value; a test holds that every keyword of the schema is here or above.
_SAYS: dict[str, Callable[[Any], str]] = {
    "type": lambda one: f"must be {_TYPES[str(one.validator_value)]}, and is {_is(one.instance)}",
    "pattern": lambda one: f"must be {one.schema['$comment']}, and is {_is(one.instance)}",
    "minimum": lambda one: f"must be at least {one.validator_value}, and is {one.instance}",
    "maximum": lambda one: f"must be at most {one.validator_value}, and is {one.instance}",
    "minLength": lambda one: "must not be empty",
    "maxLength": lambda one: f"must have at most {one.validator_value} characters, and has {len(one.instance)}",
    "minItems": lambda one: "must not be empty",
    "uniqueItems": lambda one: "must name each only once",
    "oneOf": lambda one: f"must have {one.schema['$comment']}",
}
