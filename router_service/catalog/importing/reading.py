"""The bytes of a public catalogue, plain or gzip → its JSON, exact to the digit."""

from __future__ import annotations

import json
import zlib
from decimal import Decimal, InvalidOperation

BYTES_MAX = 256 * 2**20  # of the plain text; the published files have 2 to 4 MiB
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # zlib's way to ask for gzip's framing
_INT_DIGITS_MAX = 20

JsonObject = dict[str, object]


class UnreadableSource(ValueError):
    """A file that is not of the format at all; the message says what to do about it."""


class Repeating(JsonObject):
    """A JSON object that gave some keys several times: the last value of each holds, `lost` names the rest."""

    lost: tuple[str, ...] = ()


def read_object(source: bytes, *, what: str) -> JsonObject:
    """The object at the top of a JSON text, with every number as int or Decimal.

    `NaN` and numbers that no decimal can hold are Decimal("NaN"). Raises UnreadableSource where the
    bytes are neither JSON nor gzip of JSON, exceed `BYTES_MAX`, or hold no object at the top.
    """
    text = _plain(source, what)
    try:
        found = json.loads(
            text,
            parse_float=_decimal,
            parse_int=_integer,
            parse_constant=lambda _: Decimal("NaN"),
            object_pairs_hook=_object,
        )
    except RecursionError:
        raise UnreadableSource(f"nested too deeply to be {what}: give the file as published") from None
    except ValueError as error:
        raise UnreadableSource(f"not JSON ({error}): give {what} as published") from None
    if not isinstance(found, dict):
        kind = type(found).__name__
        raise UnreadableSource(f"the top of the file is a {kind}, not an object: give {what} as published")
    return found


def lost_keys(value: JsonObject) -> tuple[str, ...]:
    """The keys of an object that were given more than once, each as often as it was lost."""
    return value.lost if isinstance(value, Repeating) else ()


def _plain(source: bytes, what: str) -> bytes:
    text = source
    if source.startswith(_GZIP_MAGIC):
        inflate = zlib.decompressobj(_GZIP_WINDOW)
        try:
            text = inflate.decompress(source, BYTES_MAX + 1)
        except zlib.error as error:
            raise UnreadableSource(f"damaged gzip ({error}): fetch {what} again") from None
        if not inflate.eof and len(text) <= BYTES_MAX:
            raise UnreadableSource(f"the gzip ends too early: fetch {what} again")
    if len(text) > BYTES_MAX:
        raise UnreadableSource(f"more than {BYTES_MAX} bytes are not {what}: give the file as published")
    return text


def _object(pairs: list[tuple[str, object]]) -> JsonObject:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    repeating = Repeating(found)
    keys = [key for key, _ in pairs]
    repeating.lost = tuple(key for number, key in enumerate(keys) if key in keys[number + 1 :])
    return repeating


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("NaN")


def _integer(text: str) -> int | Decimal:
    # A longer one is nothing that a catalogue means, and int() is slow, or refuses, on thousands of digits.
    return int(text) if len(text) <= _INT_DIGITS_MAX else _decimal(text)
