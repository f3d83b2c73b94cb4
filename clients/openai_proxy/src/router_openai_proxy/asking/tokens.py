"""How many tokens an input probably has, told from its length alone (README.md, Tokens)."""

from __future__ import annotations

import msgspec

MESSAGE = 4
"""What a message takes beside its text."""
IMAGE = 1000
IMAGE_LOW = 100
"""An image, and one that is asked for with `detail: low`."""
VIDEO = 10_000
FILE = 2000
"""What is only referred to, so that its length is not known."""
AUDIO_CHARACTERS = 500
FILE_CHARACTERS = 20
"""Characters of base64 for a token of audio, and of a file."""


def of_text(text: str) -> float:
    """A quarter for an ASCII character, and half for each byte of UTF-8 beyond the first of every other one.

    So a letter such as ü or я is half a token, a Chinese character one, and an emoji one and a half.
    """
    if text.isascii():
        return len(text) / 4
    beyond = len(text.encode("utf-8", "replace")) - len(text)
    return len(text.encode("ascii", "ignore")) / 4 + beyond / 2


def of_json(value: object) -> float:
    """What a part of the request takes that is sent to the model as JSON, such as its tools."""
    return of_text(msgspec.json.encode(value).decode())
