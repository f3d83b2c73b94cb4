"""Page: the figures as tables, for docs/simulation.md and for the file of results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.figures import at_least, at_most, median, table
from benchmarks.simulation.chart import chart
from benchmarks.simulation.compare import Compared
from benchmarks.simulation.measure import BIN_MS, Figures
from benchmarks.simulation.scenarios import BEST, OUTAGE, QUIET, SCENARIOS, Scenario
from benchmarks.simulation.strategies import COMPARED, LATE, OURS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, CHART = DOCS / "simulation.md", DOCS / "simulation.svg"
BEGIN, END = "<!-- written by make bench ARGS=simulation: -->", "<!-- :written -->"
SERVED_GOAL, ATTEMPTS_GOAL = 99.5, 1.05
_NEVER = float("inf")

Told = Callable[[Sequence[Figures]], str]


def spread(values: Sequence[float | None], digits: int) -> str:
    """The median with the least and the greatest; None is never."""
    numbers = sorted(_NEVER if one is None else one for one in values)
    shown = ["never" if one == _NEVER else f"{one:.{digits}f}" for one in (median(numbers), numbers[0], numbers[-1])]
    return shown[0] if len(set(shown)) == 1 else f"{shown[0]} ({shown[1]}–{shown[2]})"


def goal(compared: Compared) -> Iterator[str]:
    """The outage with every strategy; the goals are to be met under each seed."""
    ours = compared[OUTAGE.name, OURS]
    served = at_least(100 * min(one.served_fault for one in ours), SERVED_GOAL)
    attempts = at_most(max(one.attempts_settled for one in ours), ATTEMPTS_GOAL)
    columns: dict[str, Told] = {
        f"served in the outage, % ({served})": lambda of: spread([100 * one.served_fault for one in of], 2),
        f"attempts after 2 s ({attempts})": lambda of: spread([one.attempts_settled for one in of], 3),
        "attempts in the whole run": lambda of: spread([one.attempts for one in of], 3),
        "below 1 % of primaries after, s": lambda of: spread([one.gone_after for one in of], 1),
    }
    rows = {name: compared[OUTAGE.name, name] for name in (*COMPARED, LATE)}
    yield from _table(columns, rows)


def _table(columns: Mapping[str, Told], rows: Mapping[str, Sequence[Figures]]) -> list[str]:
    told = ([name, *(tell(figures) for tell in columns.values())] for name, figures in rows.items())
    return table(("", *columns), told)


# Each a table with a row a scenario and a column a strategy.
_TABLES: dict[str, Told] = {
    "Served within the deadline, of requests during the fault, %": (
        lambda of: spread([100 * one.served_fault for one in of], 2)
    ),
    "Served within the deadline, of all requests, %": lambda of: spread([100 * one.served for one in of], 2),
    "Attempts per request, during the fault but for its first two seconds": (
        lambda of: spread([one.attempts_settled for one in of], 3)
    ),
    "Attempts per request, of all requests": lambda of: spread([one.attempts for one in of], 3),
    "Cost of 1,000 accepted answers, EUR": lambda of: spread([one.cost for one in of], 2),
    "Time to an accepted answer, 95th percentile, s": lambda of: spread([one.p95 for one in of], 1),
}
# This router's, with a row a scenario.
_MOVES: dict[str, Told] = {
    "primaries before, %": lambda of: spread([100 * one.share_before for one in of], 0),
    "after 2 s of the fault, %": lambda of: spread([100 * one.share_settled for one in of], 1),
    "below 1 % after, s": lambda of: spread([one.gone_after for one in of], 1),
    "listed again after, s": lambda of: spread([one.listed_after for one in of], 0),
    "primary again after, s": lambda of: spread([one.back_after for one in of], 0),
}


def page(compared: Compared, seeds: Sequence[int]) -> str:
    """What stands between the marks of docs/simulation.md."""
    figures = [one for of in compared.values() for one in of]
    attempts, outside = sum(one.attempts_made for one in figures), sum(one.outside for one in figures)
    requests = sum(one.requests for one in figures)
    text = f"{requests:,} requests under seeds {seeds[0]} to {seeds[-1]}, {attempts:,} attempts"
    lines = [f"{text}, {outside} of them on an endpoint that the decision did not list or the policy does not admit."]
    lines += ["", "### The goal: a full outage of the best endpoint", "", *goal(compared)]
    lines += ["", f"![Share of primary picks that the failing endpoint gets, over time]({CHART.name})"]
    for title, told in _TABLES.items():
        columns = ([one.name, *(told(compared[one.name, name]) for name in COMPARED)] for one in SCENARIOS)
        lines += ["", f"### {title}", "", *table(("", *COMPARED), columns)]
    moves = {one.name: compared[one.name, OURS] for one in SCENARIOS if one is not QUIET}
    lines += ["", "### Leaving the failing endpoint, and coming back: this router", "", *_table(_MOVES, moves)]
    return "\n".join(lines)


def scenarios() -> Iterator[str]:
    """What the scenarios are."""
    yield from table(
        ("scenario", "what happens", "for, s", "requests/s"),
        ((one.name, _about(one), f"{one.fault}", f"{one.rate}") for one in SCENARIOS),
    )


def _about(one: Scenario) -> str:
    return one.about if one is QUIET else f"{one.who} {one.about}"


def write(compared: Compared, seeds: Sequence[int]) -> None:
    """Puts the figures into docs/simulation.md, between its marks, and the chart beside it."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    text = "\n\n".join((BEGIN, "\n".join(scenarios()), page(compared, seeds), END))
    PAGE.write_text(f"{before}{text}{after}", encoding="utf-8")
    picks = {name: _mean([one.picks for one in compared[OUTAGE.name, name]]) for name in COMPARED}
    began, ended = OUTAGE.begins_ms / 1000, OUTAGE.ends_ms / 1000
    CHART.write_text(chart(picks, BIN_MS / 1000, began, ended, f"primaries: {BEST}"), encoding="utf-8")


def _mean(lines: Sequence[Sequence[float]]) -> list[float]:
    return [sum(points) / len(points) for points in zip(*lines, strict=True)]
