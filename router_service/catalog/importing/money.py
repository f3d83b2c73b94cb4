"""A price as a public catalogue gives it → the catalogue's currency per million tokens, in six places."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact

from router_service.catalog.importing.report import LeftOut
from router_service.domain.money import PRICE_MAX
from router_service.domain.problems import InvalidValue, Problem

_PLACES = Decimal("0.000001")
_DIGITS = 400  # more than any price and rate have together, so that only the last step rounds
_RATE_MAX = 10**6

PER_TOKEN = Decimal(10**6)
PER_MILLION_TOKENS = Decimal(1)


@dataclass(frozen=True, slots=True)
class Money:
    """The conversion of one import: `rate` is units of `currency` for one unit of the file's currency."""

    rate: Decimal
    currency: str

    def __post_init__(self) -> None:
        problems = []
        if not self.rate.is_finite() or not 0 < self.rate <= _RATE_MAX:
            cure = "give what one US dollar costs in the catalogue's currency, such as USD=0.92"
            problems.append(Problem("rate", f"{self.rate} is no rate", cure))
        if not (len(self.currency) == 3 and self.currency.isascii() and self.currency.isalpha()):
            cure = "give the three letters of ISO 4217, such as EUR"
            problems.append(Problem("currency", f'"{self.currency}" is no currency', cure))
        if problems:
            raise InvalidValue("import", problems)

    def price(self, amount: Decimal, unit: Decimal) -> tuple[Decimal, bool]:
        """The price per million tokens and whether it was rounded; ties go to the even digit.

        `unit` is `PER_TOKEN` or `PER_MILLION_TOKENS`. Raises LeftOut where the amount is negative, not
        a number, or above 10⁴ per million tokens after conversion.
        """
        if not amount.is_finite() or not 0 <= amount <= PRICE_MAX * _RATE_MAX:
            raise LeftOut("price_out_of_range")
        context = Context(prec=_DIGITS, rounding=ROUND_HALF_EVEN)
        exact = context.multiply(context.multiply(amount, unit), self.rate)
        if exact > PRICE_MAX:
            raise LeftOut("price_out_of_range")
        return context.quantize(exact, _PLACES), bool(context.flags[Inexact])
