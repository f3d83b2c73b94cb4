"""How text, numbers and language tags are read: decision.md §1 by hand."""

import pytest

from .languages import TWO_OF_THREE, primary_language
from .text import entry_matches, fold, limit_micros, price_micros


def test_text_is_folded_in_ascii_only() -> None:
    assert fold(" ÉTÉ-A\t") == "ÉtÉ-a"
    assert entry_matches("a*b*", "a-b")
    assert not entry_matches("a*a", "a")
    assert not entry_matches("*", "")


def test_numbers_are_read_by_their_shortest_decimal_form() -> None:
    assert price_micros(0.1) == 100_000
    assert limit_micros(0.30000000000000004) == 300_000
    assert limit_micros(9.9e-07) == 0
    with pytest.raises(ValueError, match="six places"):
        price_micros(0.0000001)


def test_language_tags() -> None:
    # All of ISO 639-1, bh included; twenty of its languages have two codes of ISO 639-2.
    assert len(set(TWO_OF_THREE.values())) == 184
    assert len(TWO_OF_THREE) == 204
    told = {tag: primary_language(tag) for tag in ("GER_AT", "deu", "fil", "und-Latn", "mul", "")}
    assert told == {
        "GER_AT": "de", "deu": "de", "fil": "fil", "und-Latn": "", "mul": "mul", "": "",
    }  # fmt: skip
