"""What a body says went wrong: its error code, what that speaks of, and its status, by failure_classes.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

MESSAGE_READ = 500
"""Characters of a message that are looked at."""
LONG = 100
"""Digits of a number that is no status, and more than any that is counted."""

# A code is a word, never a sentence: what a body says at length may quote the request, and no payload is reported.
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,100}", re.ASCII)
_HAS_LETTER = re.compile("[A-Za-z]", re.ASCII)
_NEITHER_LETTER_NOR_DIGIT = re.compile("[^a-z0-9]+", re.ASCII)


class Told(NamedTuple):
    """What an answer says of itself: the `subject` of its error (empty where not known) and the code to report."""

    subject: str
    error_code: str


def parsed(body: object) -> object:
    """A body as JSON where it can be read as such; the first of a list, as streams of Google's send it."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            body = json.loads(body, parse_int=_number, parse_constant=_no_json)
        except (ValueError, RecursionError):
            return None
    return body[0] if isinstance(body, list) and body else body


def _number(text: str) -> int | float:
    """A whole number; one too long for Python to read, as a float: it must not spoil all the rest."""
    return int(text) if len(text) < LONG else float(text)


def _no_json(constant: str) -> object:
    """NaN and the infinities, which Python reads and JSON has not."""
    raise ValueError(constant)


def found(body: object, places: list[str]) -> Iterator[object]:
    """What stands at the places of a body, such as `error.details[].reason`, in their order."""
    for place in places:
        yield from _at(body, place.split("."))


def _at(value: object, path: list[str]) -> Iterator[object]:
    if not path:
        if value is not None:
            yield value
        return
    if not isinstance(value, dict):
        return
    inner = value.get(path[0].removesuffix("[]"))
    many = inner if isinstance(inner, list) else []
    for one in many if path[0].endswith("[]") else [inner]:
        yield from _at(one, path[1:])


def letters(text: str) -> str:
    """Letters and digits alone, in small letters: providers write the same thing in many ways."""
    return _NEITHER_LETTER_NOR_DIGIT.sub("", text.lower())


def told_status(body: object, places: list[str]) -> int | None:
    """The status of an error that came within an answer of another status, as OpenRouter sends it."""
    numbers = (one for one in found(body, places) if isinstance(one, int | float) and not isinstance(one, bool))
    return next((int(one) for one in numbers if 400 <= one <= 599 and one == int(one)), None)


def told(status: int, headers: Mapping[str, str], body: object, table: Mapping[str, Any]) -> Told:
    """What an answer speaks of: by its code where one is known, else by its message, else only its first code."""
    written = [*found(body, table["code_places"]), *(headers.get(name) for name in table["code_headers"])]
    codes = [code for one in written if isinstance(one, str) and (code := _code(one))]
    for code in codes:
        for subject in table["subjects"]:
            normal = letters(code)
            if any(word in normal for word in subject["words"]):
                return Told(subject["subject"], code)
            if any(word in normal for word in subject["more_words"]):
                return Told(subject["subject"], subject["report"] or code)
    first = next(iter(codes), "")
    for one in found(body, table["message_places"]):
        normal = letters(one[:MESSAGE_READ]) if isinstance(one, str) else ""
        for row in table["messages"]:
            if status in row["statuses"] and _speaks(normal, row):
                return Told(row["subject"], row["report"] or first)
    return Told("", first)


def _code(text: str) -> str:
    """A code without a namespace (`a.b#Code`) and what follows it (`Code:http://…`); empty where it is none."""
    code = text.rpartition("#")[2].partition(":")[0].strip()
    return code if _CODE.fullmatch(code) and _HAS_LETTER.search(code) else ""


def _speaks(normal: str, row: Mapping[str, Any]) -> bool:
    return normal.startswith(tuple(row["begins"])) or any(word in normal for word in row["contains"])
