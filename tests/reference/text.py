"""How text and numbers of a case are read: trimming, folding, globs, exact decimals (§1)."""

from collections.abc import Iterable
from decimal import Decimal

_SPACE = " \t\n\r\f\v"


def trim(text: str | None) -> str:
    """Text without ASCII white space around it; an absent text is the empty one."""
    return (text or "").strip(_SPACE)


def fold(text: str | None) -> str:
    """Trimmed and case-folded, in ASCII only: bytes.lower() leaves every other letter alone."""
    if not text:
        return ""
    text = text.strip(_SPACE)
    return text.lower() if text.isascii() else text.encode().lower().decode()


def fold_all(texts: Iterable[str] | None) -> list[str]:
    """Each text folded; an absent list is empty."""
    return [fold(text) for text in texts] if texts else []


def glob_matches(pattern: str, text: str) -> bool:
    """Whether the pattern, in which `*` stands for any run of characters, is the whole text."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    if not text.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(text) - len(rest[-1]) >= at and text.endswith(rest[-1])


def entry_matches(entry: str, value: str) -> bool:
    """A list entry against a folded value; an undocumented value matches no entry, `*` included."""
    return value != "" and glob_matches(entry, value)


def price_micros(price: float | None) -> int | None:
    """A catalogue price in whole millionths; one of more than six places is malformed (§1)."""
    if price is None:
        return None
    micros = Decimal(repr(price)).scaleb(6)
    if micros != int(micros):
        raise ValueError(f"price {price!r} has more than six places")
    return int(micros)


def limit_micros(limit: float | None) -> int | None:
    """A limit in whole millionths, rounded down (§1)."""
    return None if limit is None else int(Decimal(repr(limit)).scaleb(6) // 1)


def billionths(weighted: float) -> int:
    """A weighted term in whole 10⁻⁹: the double's exact value, nearest, ties to even (§4)."""
    numerator, denominator = weighted.as_integer_ratio()
    whole, rest = divmod(numerator * 10**9, denominator)
    up = 2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1)
    return whole + up
