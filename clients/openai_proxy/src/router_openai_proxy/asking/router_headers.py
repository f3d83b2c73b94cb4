"""The x-router-* headers of a request: what each says, and what makes no sense of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from multidict import CIMultiDict, CIMultiDictProxy

from router_openai_proxy.errors import Problem

PREFIX = "x-router-"
TEXT_MAX = 256
LIST_MAX = 64
_UINT32_MAX = 2**32 - 1
_DECIMAL = re.compile(r"[0-9]{1,7}(\.[0-9]{1,6})?", re.ASCII)
_WHOLE = re.compile(r"[0-9]{1,10}", re.ASCII)

MODALITIES = ("text", "image", "audio", "video", "file")
RESIDENCIES = ("eu-owned", "eu-hosted", "any")
STRUCTURED = ("none", "json-object", "json-schema", "strict")

Headers = CIMultiDict[str] | CIMultiDictProxy[str]


def _text(value: str) -> str:
    if not value or len(value) > TEXT_MAX or not value.isprintable():
        message = f"must be a text of 1 to {TEXT_MAX} printable characters"
        raise ValueError(message)
    return value


def _whole(value: str) -> int:
    if not _WHOLE.fullmatch(value) or int(value) > _UINT32_MAX:
        message = f"must be a whole number from 0 to {_UINT32_MAX}, and is {value[:40]!r}"
        raise ValueError(message)
    return int(value)


def _decimal(value: str) -> float:
    if not _DECIMAL.fullmatch(value):
        message = f"must be a number such as 2.5, with six decimal places at most, and is {value[:40]!r}"
        raise ValueError(message)
    return float(Decimal(value))


def _flag(value: str) -> bool:
    return _one_of("true", "false")(value) == "true"


def _one_of(*words: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in words:
            message = f"must be one of {', '.join(words)}, and is {value[:40]!r}"
            raise ValueError(message)
        return value

    return read


def _list(reader: Callable[[str], str]) -> Callable[[str], list[str]]:
    def read(value: str) -> list[str]:
        entries = [one.strip() for one in value.split(",")]
        if len(entries) > LIST_MAX:
            message = f"must have at most {LIST_MAX} entries, and has {len(entries)}"
            raise ValueError(message)
        return [reader(one) for one in entries]

    return read


# What follows the prefix, and how it is read; a name with `_` for `-` is the field of RouteRequest or of Decide.
_READERS: Mapping[str, Callable[[str], Any]] = {
    "task": _text,
    "language": _text,
    "residency": _one_of(*RESIDENCIES),
    "regions": _list(_text),
    "input-tokens": _whole,
    "output-tokens": _whole,
    "modalities": _list(_one_of(*MODALITIES)),
    "tools": _flag,
    "structured-output": _one_of(*STRUCTURED),
    "max-price": _decimal,
    "max-cost": _decimal,
    "deadline-ms": _whole,
    "policy": _text,
    "workload": _text,
    "data-class": _text,
}
_LISTS = {"regions", "modalities"}


@dataclass(frozen=True, slots=True)
class RouterHeaders:
    """What the headers say, by name without the prefix and with `_` for `-`; and what of them makes no sense."""

    said: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def read_headers(headers: Headers) -> RouterHeaders:
    """All of them. One that is not known is a problem: misspelt, it would narrow nothing."""
    said: dict[str, Any] = {}
    problems: list[Problem] = []
    for name in dict.fromkeys(key.lower() for key in headers if key.lower().startswith(PREFIX)):
        for value, what in _read(name, headers.getall(name)):
            if what:
                problems.append(Problem(name, what))
            else:
                said[name.removeprefix(PREFIX).replace("-", "_")] = value
    return RouterHeaders(said, tuple(problems))


def _read(name: str, values: list[str]) -> Iterator[tuple[Any, str]]:
    """The value of one header, or what is wrong with it."""
    short = name.removeprefix(PREFIX)
    reader = _READERS.get(short)
    if reader is None:
        close = get_close_matches(short, _READERS, 1)
        hint = (
            f"did you mean {PREFIX}{close[0]}?" if close else f"there are {', '.join(PREFIX + one for one in _READERS)}"
        )
        yield None, f"there is no such header; {hint}"
    elif len(values) > 1 and short not in _LISTS:
        yield None, f"is there {len(values)} times; send it once"
    else:
        try:
            yield reader(",".join(values).strip()), ""
        except ValueError as wrong:
            yield None, str(wrong)
