"""Tables that a person likes to read: who won, the fallbacks, the terms side by side, what was passed over and why."""

from __future__ import annotations

import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from router_service.domain.decision import TERMS
from router_service.wire.messages import Candidate, Decision, EndpointExplanation, Explanation, Refusal

_PIPED_WIDTH = 160  # a pipe has no width of its own, and a cut table helps nobody
_NAMED = 4  # endpoints named of each reason unless all are asked for
_TERM_TITLES = dict(
    zip(TERMS, ("task", "language", "documented", "sovereignty", "price", "latency", "errors"), strict=True)
)
_CLASS_STYLES = {"eu-owned": "green", "eu-hosted": "cyan", "global": "yellow"}


def _console() -> Console:
    width = None if sys.stdout.isatty() else max(_PIPED_WIDTH, shutil.get_terminal_size((0, 0)).columns)
    return Console(width=width, highlight=False, soft_wrap=False)


def decision(message: Decision) -> None:
    """Who won, the fallbacks, what their scores are made of, and what was passed over."""
    console = _console()
    console.print(Text(message.sentence, style="bold"))
    console.print()
    console.print(_failover_list(message.candidates))
    console.print(_scores(message.candidates))
    _passed_over(console, message)
    _footer(console, message)


def refusal(message: Refusal) -> None:
    """Why the request may go nowhere, and whether to ask again."""
    console = _console()
    console.print(Text.assemble(("refused ", "bold red"), (message.code, "bold"), f" (HTTP {message.http_status})"))
    console.print(Text(message.message, style="bold"))
    if message.HasField("retry_after"):
        console.print(f"An endpoint may be back in {message.retry_after.ToMilliseconds() / 1000:g} s.")
    elif message.transient:
        console.print("The same request may succeed later.")
    else:
        console.print("The same request fails again in the same way.")
    console.print()
    _passed_over(console, message)
    _footer(console, message)


def endpoints(message: Explanation, *, every: bool) -> None:
    """Every survivor by rank, and the others by their first reason with what is behind it."""
    console = _console()
    ranked = sorted((one for one in message.endpoints if one.HasField("rank")), key=lambda one: one.rank)
    if len(ranked) > _attempts(message):
        console.print()
        console.print(_ranking(ranked if every else ranked[: 3 * _NAMED], len(ranked)))
    groups: dict[str, list[EndpointExplanation]] = defaultdict(list)
    for one in message.endpoints:
        if one.refused_by:
            groups[one.refused_by[0].reason].append(one)
    if groups:
        console.print()
        console.print(_refused(groups, every=every))


def _attempts(message: Explanation) -> int:
    """How long the failover list of an explanation is."""
    return len(message.decision.candidates)


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)


def _failover_list(candidates: Iterable[Candidate]) -> Table:
    table = _table("Failover list")
    for name in ("", "endpoint", "provider", "region", "class"):
        table.add_column(name, overflow="fold")
    shown = list(candidates)
    numbers = ["score", "cost", "need ms"]
    with_allowances = any(one.HasField("allowance_ms") for one in shown)
    numbers += ["may take ms"] if with_allowances else []
    for name in (*numbers, "window", "max output"):
        table.add_column(name, justify="right")
    for place, one in enumerate(shown, start=1):
        row = [
            str(place),
            Text(one.endpoint_id, style="bold" if place == 1 else ""),
            one.provider or "–",
            _place(one.region, one.country),
            _class(one.sovereignty),
            f"{one.score:.3f}",
            f"{one.estimated_cost:.6g}" if one.HasField("estimated_cost") else "–",
            str(one.need_ms),
        ]
        if with_allowances:
            row.append(str(one.allowance_ms))
        row += [
            f"{one.context_window:,}" if one.HasField("context_window") else "–",
            f"{one.max_output_tokens:,}" if one.HasField("max_output_tokens") else "–",
        ]
        table.add_row(*row)
    return table


def _scores(candidates: Iterable[Candidate]) -> Table:
    """The weighted terms side by side: each row sums up to its score."""
    table = _table("Score, term by term (weighted)")
    table.add_column("endpoint", overflow="fold")
    for title in _TERM_TITLES.values():
        table.add_column(title, justify="right")
    table.add_column("score", justify="right", style="bold")
    for one in candidates:
        table.add_row(one.endpoint_id, *_weighted(one), f"{one.score:.3f}")
    return table


def _weighted(one: Candidate | EndpointExplanation) -> list[str]:
    values = [getattr(one.terms, name).weighted for name in TERMS]
    return [f"{value:+.3f}" if value else "0" for value in values]


def _passed_over(console: Console, message: Decision | Refusal) -> None:
    if not message.considered:
        return
    console.print(Text(f"Passed over: {message.excluded} of {message.considered} endpoints", style="bold"))
    counts = sorted(message.reasons.items(), key=lambda one: (-one[1], one[0]))
    wide = max((len(str(count)) for _, count in counts), default=0)
    for reason, count in counts:
        console.print(f"  {count:>{wide}}  {reason}")
    console.print()


def _footer(console: Console, message: Decision | Refusal) -> None:
    facts = [f"policy {message.policy_id}", f"residency {message.effective_residency}"]
    if message.resolved_model and message.steps:
        how = "approximately, " if message.approximate else ""
        cut = ", ".join(message.steps)
        facts.append(f"{message.requested_model} read as {message.resolved_model} ({how}without its {cut})")
    facts += [f"catalogue {message.catalog_version[:12]}"] if message.catalog_version else []
    facts += [f"trace {message.trace_id}"] if message.trace_id else []
    console.print(Text(" · ".join(facts), style="dim"))


def _ranking(ranked: list[EndpointExplanation], total: int) -> Table:
    shown = f", the first {len(ranked)} of {total} (--all for every one)" if len(ranked) < total else ""
    table = _table(f"Ranking of what survived{shown}")
    for name in ("rank", "attempt"):
        table.add_column(name, justify="right")
    table.add_column("endpoint", overflow="fold")
    for title in _TERM_TITLES.values():
        table.add_column(title, justify="right")
    table.add_column("score", justify="right", style="bold")
    for one in ranked:
        attempt = str(one.attempt) if one.HasField("attempt") else ""
        table.add_row(str(one.rank), attempt, one.endpoint_id, *_weighted(one), f"{one.score:.3f}")
    return table


def _refused(groups: dict[str, list[EndpointExplanation]], *, every: bool) -> Table:
    table = _table("Passed over, by the first reason")
    table.add_column("reason", no_wrap=True)
    table.add_column("endpoint", overflow="fold", ratio=2)
    table.add_column("because", overflow="fold", ratio=3)
    table.add_column("and also", overflow="fold", ratio=2, style="dim")
    # The counts stand in the filter's order inside the service; on the wire a map has none, so the most frequent first.
    for reason, members in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
        shown = members if every else members[:_NAMED]
        for number, one in enumerate(shown):
            title = f"{len(members)} {reason}" if number == 0 else ""
            also = ", ".join(by.reason for by in one.refused_by[1:])
            table.add_row(title, one.endpoint_id, one.refused_by[0].detail, also)
        if len(shown) < len(members):
            table.add_row("", f"… {len(members) - len(shown)} more (--all)", "", "")
    return table


def _place(region: str, country: str) -> str:
    return f"{region or 'undocumented'} ({country})" if country else region or "undocumented"


def _class(sovereignty: str) -> Text:
    return Text(sovereignty or "undocumented", style=_CLASS_STYLES.get(sovereignty, "dim"))
