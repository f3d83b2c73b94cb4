"""Texts of headers and contexts as the domain's tables read them: numbers, flags and lists are written out there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from router_service.domain.problems import Problem
from router_service.domain.request import FIELDS as REQUEST_FIELDS
from router_service.wire.envoy.keys import FIELDS

_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?", re.ASCII)
_FLAGS = {"true": True, "false": False}
_NAMES = {field: name for name, field in FIELDS.items()}


def raw_of(texts: Mapping[str, str]) -> dict[str, object]:
    """The raw fields of a request, of texts by the names of the table; empty text is absent."""
    return {FIELDS[name]: _value(FIELDS[name], text.strip()) for name, text in texts.items() if text.strip()}


def listed(text: str) -> list[str]:
    """The entries of a list, which commas part."""
    return [entry.strip() for entry in text.split(",")]


def _value(field: str, text: str) -> object:
    """The text as the field is written; what is none of its kind stays text, for the reader to refuse."""
    kind = REQUEST_FIELDS[field].reader.kind
    if kind == "number":
        return Decimal(text) if _NUMBER.fullmatch(text) else text
    if kind == "flag":
        return _FLAGS.get(text.lower(), text)
    return listed(text) if kind == "list" else text


def placed(problem: Problem, places: Mapping[str, str], otherwise: str) -> Problem:
    """The problem of a field by the place where the field was written.

    `places` gives that by the name of the table; what was written nowhere is at `otherwise` and its name.
    """
    field, bracket, rest = problem.field.removeprefix("request.").partition("[")
    name = _NAMES.get(field, field)
    return Problem(places.get(name, otherwise + name) + bracket + rest, problem.message, problem.cure)
