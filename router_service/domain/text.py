"""Text as the rules compare it: trimmed and case-folded in ASCII only (docs/decision.md, Vocabulary)."""

from __future__ import annotations

_SPACE = " \t\n\r\f\v"
_UPPER_TO_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def trim(text: str) -> str:
    """`text` without ASCII white space at its ends; any other space is part of a name."""
    return text.strip(_SPACE)


def fold(text: str) -> str:
    """`text` trimmed, with A-Z as a-z. Letters outside ASCII stay as they are, on every machine."""
    text = text.strip(_SPACE)
    return text.lower() if text.isascii() else text.translate(_UPPER_TO_LOWER)


def is_printable_ascii(text: str) -> bool:
    """Whether every character is one of U+0020 to U+007E."""
    return text.isascii() and text.isprintable()
