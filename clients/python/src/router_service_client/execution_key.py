"""The key of a side effect, the same for the same call of a tool: canonical JSON (RFC 8785), hashed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from hashlib import sha256


def execution_key(operation_id: str, tool_name: str, arguments: object) -> str:
    """SHA-256 (64 hex digits) of operation_id, tool_name and the canonical arguments, separated by zero bytes.

    Args:
        operation_id: the caller's own id of the operation, the same when it is tried again.
        tool_name: the tool.
        arguments: what `json.loads` makes of the arguments: dicts, lists, strings, numbers, booleans, None.

    Raises:
        ValueError: a part has a zero character, or the arguments have no canonical form.
    """
    parts = (operation_id, tool_name, canonical_json(arguments))
    if any("\0" in part for part in parts):
        text = "operation_id and tool_name cannot have a zero character, which separates the parts"
        raise ValueError(text)
    return sha256("\0".join(parts).encode()).hexdigest()


def canonical_json(value: object) -> str:
    """A value as RFC 8785 writes it. Raises ValueError for what it cannot write alike in every language."""
    match value:
        case None | bool():
            return json.dumps(value)
        case str():
            return _text(value)
        case int() | float():
            return _number(value)
        case list() | tuple():
            return f"[{','.join(map(canonical_json, value))}]"
        case Mapping():
            return _object(value)
    text = f"{type(value).__name__} has no canonical form; use what json.loads returns"
    raise ValueError(text)


def _object(value: Mapping[object, object]) -> str:
    names = [name for name in value if isinstance(name, str)]
    if len(names) != len(value):
        text = "a name that is no string has no canonical form"
        raise ValueError(text)
    members = (f"{_text(one)}:{canonical_json(value[one])}" for one in sorted(names, key=_utf16))
    return f"{{{','.join(members)}}}"


def _utf16(text: str) -> bytes:
    """What names are sorted by; surrogates without their other half are told by the writing of the text."""
    return text.encode("utf-16-be", "surrogatepass")


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        wrong = "half a surrogate pair has no canonical form"
        raise ValueError(wrong) from None
    return json.dumps(text, ensure_ascii=False)


def _number(number: float) -> str:
    """As ECMAScript writes the double that it is: the shortest digits that read back as the same."""
    try:
        double = float(number)
    except OverflowError:
        double = math.inf
    if not math.isfinite(double):
        text = f"{number} has no canonical form"
        raise ValueError(text)
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    mantissa, _, power = f"{abs(double)!r}".partition("e")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    # The value is 0.DIGITS × 10^point.
    point = len(whole) + int(power or 0) - (len(whole + part) - len(digits))
    digits = digits.rstrip("0")
    written = sign + _written(digits, point)
    if isinstance(number, int) and int(double) != number and written != str(number):
        text = f"{number} is another number to languages that know doubles alone; pass it as a string"
        raise ValueError(text)
    return written


def _written(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    power = f"e{point - 1:+d}"
    return f"{digits[0]}.{digits[1:]}{power}" if count > 1 else digits + power
