"""What a row charges → the two documented prices per million tokens, so that nothing ever looks free by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from router_service.catalog.importing.money import Money
from router_service.catalog.importing.report import LeftOut
from router_service.domain import words


@dataclass(frozen=True, slots=True)
class Charges:
    """A row's charges in its own currency and unit; None is not documented, 0 is a price.

    `other` tells whether anything but text tokens costs something: a second, a picture, a request.
    """

    input: Decimal | None
    output: Decimal | None
    reasoning: Decimal | None
    other: bool


def token_prices(
    charges: Charges, model_type: str, money: Money, unit: Decimal, changes: set[str]
) -> dict[str, Decimal | None]:
    """`input_price` and `output_price` in the catalogue's currency, None where not documented.

    A 0 beside a charge in another unit is left out, since the row is not free. Raises LeftOut for a
    row that generates text and is charged by other units alone, and for a price out of range.
    """
    prices: dict[str, Decimal | None] = {}
    for name, amount in (("input_price", charges.input), ("output_price", charges.output)):
        prices[name] = None
        if amount is None:
            if charges.other:
                changes.add("price_in_other_units")
            continue
        price, rounded = money.price(amount, unit)
        if rounded:
            changes.add("price_rounded")
        if amount == 0 and charges.other:
            changes.add("zero_price_left_out")
        else:
            prices[name] = price
    if charges.other and model_type == words.TEXT and all(price is None for price in prices.values()):
        raise LeftOut("price_not_per_token")
    if charges.reasoning is not None:
        price, _ = money.price(charges.reasoning, unit)
        if price > (prices["output_price"] or 0):
            changes.add("reasoning_price_ignored")
    return prices
