"""Acceptance: every answer passes the same checks before it is cached, counted as right, or handed to a tool runner.

Needs jsonschema: `pip install 'router-service-client[acceptance]'`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import EMPTY_REGISTRY, specification_with

from router_service_client.envelopes import Envelope, NotAnEnvelope, ToolCall, openai_envelope
from router_service_client.seen import CallFailed

if TYPE_CHECKING:
    from referencing._core import Resolver  # the type of what is public has no public name

Schema = Mapping[str, Any]


class Acceptance:
    """The checks of one kind of request, to be given to `run` as `accept`.

    In order: the envelope parses; the answer is not cut off; structured output is of its schema; tools are registered
    and their arguments are of each tool's schema; the caller's own checks. White space around JSON is all that is
    forgiven. What it says of an answer holds no words of it, since it is reported.

    Args:
        schema: the JSON Schema that the text must be of, as the request was made with; None for free text.
        tools: the schemas of the arguments of the tools that may be called, by name; None for one that takes free text.
        whole: whether an answer that was cut off by a limit is refused.
        checks: what else must hold; each says what is wrong, in words that hold nothing of the answer, or nothing.
        envelope: how the API's answers are read: `openai_envelope`, `anthropic_envelope`, or one of your own.

    Raises:
        jsonschema.SchemaError: a schema is none, or refers to what is not in it: nothing is ever fetched.
    """

    def __init__(
        self,
        *,
        schema: Schema | None = None,
        tools: Mapping[str, Schema | None] | None = None,
        whole: bool = True,
        checks: Iterable[Callable[[Envelope], str | None]] = (),
        envelope: Callable[[object], Envelope] = openai_envelope,
    ) -> None:
        self._schema = None if schema is None else _validator(schema)
        self._tools = {name: None if one is None else _validator(one) for name, one in (tools or {}).items()}
        self._whole = whole
        self._checks = tuple(checks)
        self._envelope = envelope

    def __call__(self, answer: object) -> str:
        """What is wrong with an answer; empty where it is accepted.

        Raises:
            CallFailed: the endpoint refuses to speak of this, which ends the run.
        """
        try:
            envelope = self._envelope(answer)
        except NotAnEnvelope:
            return "the envelope does not parse"
        if envelope.refused:
            raise CallFailed.content_refused()
        if self._whole and envelope.truncated:
            return "the answer is cut off"
        steps = (self._text, self._tool_calls, *self._checks)
        return next((wrong for step in steps if (wrong := step(envelope))), "")

    def _text(self, envelope: Envelope) -> str:
        # An answer that calls tools instead has no text to be of the schema.
        if self._schema is None or (envelope.tool_calls and not envelope.text.strip()):
            return ""
        return _wrong(self._schema, envelope.text, "the answer")

    def _tool_calls(self, envelope: Envelope) -> str:
        return next((wrong for one in envelope.tool_calls if (wrong := self._tool_call(one))), "")

    def _tool_call(self, call: ToolCall) -> str:
        if call.name not in self._tools:
            return "a tool that is not registered"
        validator = self._tools[call.name]
        if validator is None:
            return "" if isinstance(call.arguments, str) else f"the arguments of {call.name}: no text"
        return _wrong(validator, call.arguments, f"the arguments of {call.name}")


def _validator(schema: Schema) -> Validator:
    copied = dict(schema)
    kind = validator_for(copied)
    kind.check_schema(copied)
    resource: Resource[Any] = specification_with(kind.META_SCHEMA["$schema"]).create_resource(copied)
    _check_references(resource, EMPTY_REGISTRY.resolver_with_root(resource))
    # With a registry of its own a validator fetches nothing.
    return kind(copied, format_checker=kind.FORMAT_CHECKER, registry=EMPTY_REGISTRY)


def _check_references(resource: Resource[Any], resolver: Resolver[Any]) -> None:
    """Raises SchemaError where a schema refers to one that is not in it."""
    contents = resource.contents if isinstance(resource.contents, Mapping) else {}
    for reference in (contents[key] for key in ("$ref", "$dynamicRef", "$recursiveRef") if key in contents):
        try:
            resolver.lookup(reference)
        except Unresolvable as unknown:
            text = f"{reference!r} is not in the schema"
            raise SchemaError(text, validator="$ref", instance=reference) from unknown
    for inner in resource.subresources():
        _check_references(inner, resolver.in_subresource(inner))


def _wrong(validator: Validator, value: Any, what: str) -> str:
    """What is wrong with JSON, told by the place in the schema: a message of jsonschema's would quote the answer."""
    try:
        if isinstance(value, str):
            value = json.loads(value.strip(), parse_constant=_no_number)
        error = next(iter(validator.iter_errors(value)), None)
    except ValueError:
        return f"{what}: no JSON"
    except RecursionError:
        return f"{what}: nested too deeply, or its schema refers to itself without an end"
    return "" if error is None else f"{what}: not of its schema at /{'/'.join(map(str, error.absolute_schema_path))}"


def _no_number(name: str) -> float:
    text = f"{name} is no JSON"
    raise ValueError(text)
