"""`router-service import`: the two public catalogues become endpoints of a catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path

import click

from router_service.catalog.importing import (
    Imported,
    Owners,
    UnreadableSource,
    import_litellm,
    import_models_dev,
    read_owners,
    write_yaml,
)
from router_service.cli.options import UsageProblem, flag
from router_service.domain.problems import InvalidValue

_FORMATS: dict[str, Callable[..., Imported]] = {"litellm": import_litellm, "models-dev": import_models_dev}
_SOURCE_CURRENCY = "USD"
_RATE = re.compile(r"([A-Za-z]{3})=(.+)")


@click.command()
@click.argument("source", type=click.Choice(list(_FORMATS)))
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@flag(
    "--owners",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A table of providers and their owners' countries; without one no sovereignty is documented.",
)
@flag("--rate", metavar="USD=NUMBER", help="What one unit of the file's currency is worth in --currency.")
@flag("--currency", default=_SOURCE_CURRENCY, show_default=True, help="The catalogue's currency.")
@flag("--out", type=click.Path(path_type=Path, dir_okay=False), help="Where to write.  [default: standard output]")
def command(source: str, file: Path, owners: Path | None, rate: str | None, currency: str, out: Path | None) -> None:
    """Turn a public catalogue, as published, into endpoints: facts as they are, the unknown left undocumented.

    SOURCE is litellm (model_prices_and_context_window.json) or models-dev (api.json, gzipped or not). Every row that
    is rounded or left out is counted with its reason on standard error.
    """
    currency = currency.upper()
    try:
        table = read_owners(owners.read_bytes(), name=str(owners)) if owners else Owners()
        imported = _FORMATS[source](file.read_bytes(), owners=table, rate=_rate(rate, currency), currency=currency)
    except InvalidValue as invalid:
        raise UsageProblem("\n".join(str(problem) for problem in invalid.problems)) from None
    except (UnreadableSource, OSError) as error:
        raise UsageProblem(f"{file}: {error}") from None
    text = write_yaml(imported, source_name=file.name)
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")
    for line in imported.report.lines():
        click.echo(line, err=True)


def _rate(text: str | None, currency: str) -> Decimal:
    """The rate of the file's currency, which is 1 where the catalogue has the same."""
    if text is None:
        if currency == _SOURCE_CURRENCY:
            return Decimal(1)
        raise UsageProblem(
            f"prices are published in {_SOURCE_CURRENCY}: say --rate {_SOURCE_CURRENCY}=0.92 for {currency}"
        )
    found = _RATE.fullmatch(text)
    try:
        rate = Decimal(found[2]) if found and found[1].upper() == _SOURCE_CURRENCY else Decimal("NaN")
    except InvalidOperation:
        rate = Decimal("NaN")
    if not (rate.is_finite() and 0 < rate < 10**6):
        raise UsageProblem(
            f"--rate {text}: write {_SOURCE_CURRENCY}= and a number above 0, such as {_SOURCE_CURRENCY}=0.92"
        )
    return rate
