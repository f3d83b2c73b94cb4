"""Tables that a person likes to read: who won, the fallbacks, the terms side by side, what was passed over and why."""

from __future__ import annotations

import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from router_service.domain.decision import TERMS
from router_service.wire.messages import Candidate, Decision, EndpointExplanation, Explanation, Figure, Refusal

_PIPED_WIDTH = 160  # a pipe has no width of its own, and a cut table helps nobody
_LEAST_WIDTH = 80  # below it the terminal may break lines, but no digit is ever cut
_NAMED = 4  # endpoints named of each reason unless all are asked for
_RANKED = 12  # and survivors
_TERM_TITLES = dict(zip(TERMS, ("task", "lang", "docs", "sov.", "price", "speed", "err."), strict=True))
# How a figure that was not the catalogue's is told, and what the catalogue records instead.
_FIGURES = {
    "latency_ms": ("latency {} ms observed", "{} ms"),
    "error_rate": ("error rate {} observed", "{}"),
    "status": ("status {} set by hand", "{}"),
    "suppressed_until": ("left out until {}", "until {}"),
}
_CLASS_STYLES = {"eu-owned": "green", "eu-hosted": "cyan", "global": "yellow"}


def decision(message: Decision, *, scores: bool = True, workload: str = "") -> None:
    """Who won, the fallbacks, what their scores are made of, and what was passed over; under which workload, if any."""
    console = new_console()
    _literally(console, message.sentence)
    console.print()
    console.print(_failover_list(message.candidates))
    if scores:
        console.print()
        console.print(_scores(message.candidates))
    console.print()
    _passed_over(console, message)
    _footer(console, message, workload)


def refusal(message: Refusal, *, workload: str = "") -> None:
    """Why the request may go nowhere, and whether to ask again."""
    console = new_console()
    console.print(Text.assemble(("refused ", "bold red"), (message.code, "bold"), f" (HTTP {message.http_status})"))
    _literally(console, message.message)
    if message.HasField("retry_after"):
        console.print(f"The same request may succeed in {message.retry_after.ToMilliseconds() / 1000:g} s.")
    elif message.transient:
        console.print("The same request may succeed later.")
    else:
        console.print("The same request fails again in the same way.")
    console.print()
    _passed_over(console, message)
    _footer(console, message, workload)


def explanation(message: Explanation, *, every: bool) -> None:
    """The decision or refusal, every survivor by rank, and the others by their first reason with what is behind it."""
    if message.HasField("decision"):
        decision(message.decision, scores=False, workload=message.workload)
    else:
        refusal(message.refusal, workload=message.workload)
    console = new_console()
    if message.origins:
        console.print()
        console.print(_origins(message))
    ranked = [one for one in message.endpoints if one.HasField("rank")]
    if ranked:
        console.print()
        console.print(_ranking(ranked if every else ranked[:_RANKED], len(ranked)))
    groups: dict[str, list[EndpointExplanation]] = defaultdict(list)
    for one in message.endpoints:
        if one.refused_by:
            groups[one.refused_by[0].reason].append(one)
    if groups:
        console.print()
        console.print(_refused(groups, every=every))
    differing = [one for one in message.endpoints if one.figures]
    if differing:
        console.print()
        console.print(_not_recorded(differing if every else differing[:_RANKED], len(differing)))
    if message.hidden_endpoints:
        console.print()
        console.print(f"{message.hidden_endpoints} endpoints are not shown: no policy of yours admits them.")


def new_console() -> Console:
    """Standard output, as wide as a terminal is or as whole tables need."""
    width = shutil.get_terminal_size().columns
    width = max(_LEAST_WIDTH, width) if sys.stdout.isatty() else max(_PIPED_WIDTH, width)
    # What callers and catalogues write is shown as it is, brackets and colons included.
    return Console(width=width, highlight=False, markup=False, emoji=False)


def new_table(title: str) -> Table:
    """A table without lines, as all of them look."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="dim",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )


def _literally(console: Console, sentence: str) -> None:
    """A sentence word for word: only a terminal breaks it into lines, since programs look for the whole."""
    console.print(Text(sentence, style="bold"), soft_wrap=not console.is_terminal)


def _failover_list(candidates: Iterable[Candidate]) -> Table:
    shown = list(candidates)
    with_allowances = any(one.HasField("allowance_ms") for one in shown)
    table = new_table("Failover list")
    table.add_column("")
    table.add_column("endpoint", overflow="fold", min_width=12)
    table.add_column("place", overflow="fold")
    table.add_column("class", overflow="fold")
    for name in ("score", "cost", "need", *(["may take"] if with_allowances else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for place, one in enumerate(shown, start=1):
        table.add_row(
            str(place),
            Text(one.endpoint_id, style="bold" if place == 1 else ""),
            _place(one),
            _class(one.sovereignty),
            f"{one.score:.3f}",
            f"{one.estimated_cost:.3g}" if one.HasField("estimated_cost") else "–",
            f"{one.need_ms} ms",
            *([f"{one.allowance_ms} ms"] if with_allowances else []),
        )
    return table


def _scores(candidates: Iterable[Candidate]) -> Table:
    """The weighted terms side by side: each row sums up to its score."""
    table = new_table("Score, term by term (weighted)")
    table.add_column("")
    _add_term_columns(table)
    for place, one in enumerate(candidates, start=1):
        table.add_row(str(place), one.endpoint_id, *_weighted(one))
    return table


def _ranking(ranked: list[EndpointExplanation], total: int) -> Table:
    """The same of every survivor; `try` is its place in the failover list."""
    shown = f", the first {len(ranked)} of {total} (--all for every one)" if len(ranked) < total else ""
    table = new_table(f"Ranking of what survived, score term by term{shown}")
    table.add_column("try")
    table.add_column("rank", justify="right", no_wrap=True)
    _add_term_columns(table)
    for one in ranked:
        attempt = str(one.attempt) if one.HasField("attempt") else ""
        table.add_row(attempt, str(one.rank), one.endpoint_id, *_weighted(one))
    return table


def _add_term_columns(table: Table) -> None:
    table.add_column("endpoint", overflow="fold", min_width=11)
    for title in _TERM_TITLES.values():
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("score", justify="right", style="bold", no_wrap=True)


def _weighted(one: Candidate | EndpointExplanation) -> list[str]:
    values = [getattr(one.terms, name).weighted for name in TERMS]
    return [*(f"{value:+.2f}" if value else "0" for value in values), f"{one.score:.3f}"]


def _passed_over(console: Console, message: Decision | Refusal) -> None:
    if not message.considered:
        return
    console.print(Text(f"Passed over: {message.excluded} of {message.considered} endpoints", style="bold"))
    counts = sorted(message.reasons.items(), key=lambda one: (-one[1], one[0]))
    wide = max((len(str(count)) for _, count in counts), default=0)
    for reason, count in counts:
        console.print(f"  {count:>{wide}}  {reason}")
    console.print()


def _origins(message: Explanation) -> Table:
    table = new_table(f"Asked under workload {message.workload}")
    table.add_column("field", style="dim", no_wrap=True)
    table.add_column("value", overflow="fold", min_width=12)
    table.add_column("from", no_wrap=True)
    for one in message.origins:
        table.add_row(one.field, Text(one.value), one.source)
    return table


def _refused(groups: dict[str, list[EndpointExplanation]], *, every: bool) -> Table:
    table = new_table("Passed over, by the first reason, with what is behind it")
    table.show_header = False
    table.add_column("endpoint", overflow="fold", min_width=20)
    table.add_column("because", overflow="fold")
    # A map on the wire has no order: the most frequent reason stands first.
    for reason, members in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
        table.add_row(Text.assemble((reason, "bold"), f" ({len(members)})"), "")
        shown = members if every else members[:_NAMED]
        for one in shown:
            also = ", ".join(by.reason for by in one.refused_by[1:])
            because = Text.assemble(one.refused_by[0].detail, (f"; also {also}" if also else "", "dim"))
            table.add_row(f"  {one.endpoint_id}", because)
        if len(shown) < len(members):
            table.add_row(Text(f"  … {len(members) - len(shown)} more (--all)", style="dim"), "")
    return table


def _not_recorded(differing: list[EndpointExplanation], total: int) -> Table:
    """What was observed, or set by hand, and so stood in the place of the catalogue's figures."""
    shown = f", the first {len(differing)} of {total} (--all for every one)" if len(differing) < total else ""
    table = new_table(f"Not as the catalogue records it{shown}")
    table.show_header = False
    table.add_column("endpoint", overflow="fold", min_width=20)
    table.add_column("figures", overflow="fold")
    for one in differing:
        table.add_row(one.endpoint_id, Text("; ".join(map(_figure, one.figures))))
    return table


def _figure(one: Figure) -> str:
    used, recorded = _FIGURES.get(one.name, (f"{one.name} {{}} {one.source}", "{}"))
    return used.format(one.used) + (f" (recorded {recorded.format(one.recorded)})" if one.recorded else "")


def _footer(console: Console, message: Decision | Refusal, workload: str) -> None:
    facts = [f"policy {message.policy_id}", *([f"workload {workload}"] if workload else [])]
    facts.append(f"residency {message.effective_residency}")
    if message.steps:
        how = "approximately, " if message.approximate else ""
        facts.append(f"{message.requested_model} read as {message.resolved_model} ({how}by {', '.join(message.steps)})")
    facts += [f"catalogue {message.catalog_version[:12]}"] if message.catalog_version else []
    facts += [f"trace {message.trace_id}"] if message.trace_id else []
    console.print(Text(" · ".join(facts), style="dim"))


def _place(one: Candidate) -> str:
    parts = (one.provider, one.region, f"({one.country})" if one.country else "")
    return " ".join(part for part in parts if part) or "undocumented"


def _class(sovereignty: str) -> Text:
    return Text(sovereignty or "undocumented", style=_CLASS_STYLES.get(sovereignty, "dim"))
