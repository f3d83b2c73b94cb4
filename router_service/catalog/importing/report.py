"""What an import read, made, left out and changed: every row counted, under a named reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

EXAMPLES_MAX = 5  # ids that a reason keeps as examples

# Why a row gives no endpoint.
LEFT_OUT = {
    "not_a_model_entry": "describes the file or its rules, not a model",
    "alias_entry": "a name that moves from model to model, such as x-latest; the model is imported as itself",
    "no_provider": "names no provider",
    "no_mode": "does not say what the model does",
    "bad_id": "its id is empty, longer than 256 characters or not of printable ASCII",
    "pool_name": "its model is called like the whole pool (auto), so no request could name it",
    "price_not_per_token": "generates text and is charged by other units alone, so it would look free",
    "price_out_of_range": "a price that is negative, not a number or above 10000 per million tokens",
    "malformed": "a value of the wrong type",
    "duplicate_id": "repeats an id of the same file",
}

# What was changed, or not carried over, in a row that was imported.
CHANGED = {
    "price_rounded": "price rounded to six places, ties to even",
    "zero_price_left_out": "a price of 0 beside a charge in another unit is no documented price",
    "price_in_other_units": "no price per token for one side or both: charged in other units",
    "tier_ignored": "prices by length or time of day: the base price is carried",
    "reasoning_price_ignored": "reasoning tokens cost more than the output price that is carried",
    "eu_surcharge_ignored": "a surcharge for processing in the EU: the base price is carried",
    "other_surcharge_ignored": "a surcharge for other regions or offers: the base price is carried",
    "zero_limit_left_out": "a limit of 0 tokens is no documented limit",
    "input_limit_ignored": "an input limit below the context window has no place in the catalogue",
    "type_from_id": "filed as text; id, family or modalities show another type",
    "modality_ignored": "an input modality that the catalogue does not know",
    "date_unreadable": "a deprecation date that is no date",
    "deprecated_without_date": "said to be deprecated, without a date from which it is gone",
    "expanded": "one row, several regions: one endpoint each",
    "region_from_owners": "no region of its own: the one that the owners table gives",
    "region_not_located": "a region whose country is not known: no sovereignty",
    "provider_not_in_owners": "provider missing from the owners table: no sovereignty",
}


class LeftOut(Exception):
    """A row gives no endpoint, for one of the reasons of `LEFT_OUT`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Tally:
    """How often something happened, with the first ids that it happened to."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str) -> None:
        self.count += 1
        if len(self.examples) < EXAMPLES_MAX:
            self.examples.append(example)


def _tallies(reasons: dict[str, str]) -> dict[str, Tally]:
    return {reason: Tally() for reason in reasons}


@dataclass(slots=True)
class Report:
    """The account of one import: `rows_read` = `rows_imported` + every row left out.

    `endpoints` exceeds `rows_imported` by the endpoints that `expanded` rows gave beyond their first.
    """

    rows_read: int = 0
    rows_imported: int = 0
    endpoints: int = 0
    left_out: dict[str, Tally] = field(default_factory=lambda: _tallies(LEFT_OUT))
    changed: dict[str, Tally] = field(default_factory=lambda: _tallies(CHANGED))
    aliases_dropped: Tally = field(default_factory=Tally)

    @property
    def rows_left_out(self) -> int:
        return sum(tally.count for tally in self.left_out.values())

    def leave_out(self, reason: str, row_id: str) -> None:
        self.left_out[reason].add(row_id)

    def imported(self, row_id: str, changes: Iterable[str]) -> None:
        self.rows_imported += 1
        for reason in changes:
            self.changed[reason].add(row_id)

    def lines(self) -> Iterator[str]:
        """The account as text, one reason a line; reasons that never applied are not told."""
        yield (
            f"{self.rows_read} rows read: {self.rows_imported} imported as {self.endpoints} endpoints,"
            f" {self.rows_left_out} left out"
        )
        for title, reasons, tallies in (
            ("left out", LEFT_OUT, self.left_out),
            ("changed", CHANGED, self.changed),
        ):
            for reason, tally in tallies.items():
                if tally.count:
                    yield _line(f"{title}, {reason}", tally, reasons[reason])
        if self.aliases_dropped.count:
            about = "would mean two models, or is a slug itself"
            yield _line("alias dropped", self.aliases_dropped, about)


def _line(title: str, tally: Tally, about: str) -> str:
    shown = ", ".join(ascii(example)[1:-1] for example in tally.examples)
    return f"{title}: {tally.count} ({about}; such as {shown})"
