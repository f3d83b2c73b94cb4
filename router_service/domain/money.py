"""Prices, limits and costs as integers (docs/decision.md, Vocabulary).

A price or a limit is held in millionths of the catalogue's currency, a cost in 10⁻¹². Tokens times a price per
million tokens in millionths is a cost in 10⁻¹² as it stands, so no sum ever leaves the integers.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal, InvalidOperation

MILLION = 10**6
COST_UNIT = 10**12
PRICE_MAX = 10**4
LIMIT_MAX = 10**6
TOKENS_MAX = 10**8

# Wide enough that scaling the shortest form of any double is exact.
_EXACT = Context(prec=800)
_REACH = 400


def decimal_of(number: object) -> Decimal | None:
    """`number` (int, float or Decimal) as the decimal it is written as: a double by its shortest form.

    None where it is no finite number, or one beyond all reason. A bool is no number.
    """
    if isinstance(number, bool):
        return None
    if isinstance(number, int):
        return Decimal(number)
    try:
        value = Decimal(repr(number)) if isinstance(number, float) else number
        return value if isinstance(value, Decimal) and _is_plain(value) else None
    except InvalidOperation:  # pragma: no cover - repr of a float always parses
        return None


def _is_plain(value: Decimal) -> bool:
    """Whether `value` is finite and within what any double could be, so that scaling it is exact."""
    return value.is_finite() and abs(value.adjusted()) < _REACH and len(value.as_tuple().digits) < _REACH


def exact_millionths(value: Decimal) -> int | None:
    """`value` in whole millionths, or None where it has more than six places."""
    scaled = _EXACT.multiply(value, Decimal(MILLION))
    whole = int(scaled)
    return whole if whole == scaled else None


def floor_millionths(value: Decimal) -> int:
    """`value` in millionths, rounded down: a limit is never widened by its own rounding."""
    scaled = _EXACT.multiply(value, Decimal(MILLION))
    return int(scaled.to_integral_value(rounding=ROUND_FLOOR))


def floor_cost(value: Decimal) -> int:
    """`value` in 10⁻¹², rounded down."""
    return int(_EXACT.multiply(value, Decimal(COST_UNIT)).to_integral_value(rounding=ROUND_FLOOR))


def nearest_double(amount: int, unit: int = MILLION) -> float:
    """The double nearest to `amount / unit`, as the wire carries it: Python divides integers with one rounding."""
    return amount / unit


def plain(amount: int, unit: int = MILLION) -> str:
    """`amount / unit` written out in full, without an exponent and without trailing zeros: `0.25`, `12`."""
    text = f"{Decimal(amount).scaleb(-6 if unit == MILLION else -12, _EXACT):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
