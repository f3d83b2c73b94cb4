"""Explanations for people and for programs tell what was observed, or set by hand, in the place of what is recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from router_service.cli import main, render
from router_service.wire.messages import EndpointExplanation, Explanation, Figure
from tests.server.live import LIMITED, Live, figures, serving, trace_of, until


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    """Of endpoint a figures were observed, b was asked to pause, c is degraded by hand."""
    async with serving(tmp_path) as server:
        await server.tell("a", 5, time_to_first_token_ms=320)
        await server.tell("b", retry_after_ms=40_000, **LIMITED)
        await server.set_status("c", "degraded", "slow disk")
        await until(lambda: observed(server))
        yield server


async def observed(live: Live) -> bool:
    return "latency_ms" in figures(await live.explain(), "a")


async def run(live: Live, *arguments: str) -> Result:
    target = ("--server", live.target)
    return await asyncio.to_thread(CliRunner().invoke, main, [*arguments, *target], catch_exceptions=False)


async def test_explain_and_trace_explain_tell_them(live: Live) -> None:
    trace_id = trace_of(await live.decide())
    for arguments in (("explain",), ("trace", "explain", trace_id)):
        done = await run(live, *arguments)
        assert done.exit_code == 0
        for line in (
            "Not as the catalogue records it",
            "latency 320 ms observed (recorded 600 ms); error rate 0 observed (recorded 0.01)",
            "left out until 2027-01-15T08:00:40Z",
            "status degraded set by hand (recorded up)",
        ):
            assert line in done.stdout
        told = json.loads((await run(live, *arguments, "--output", "json")).stdout)["explanation"]
        shown = {one["endpoint_id"]: one["figures"] for one in told["endpoints"]}
        assert shown["a"][0] == {"name": "latency_ms", "used": "320", "recorded": "600", "source": "observed"}
        assert [one["name"] for one in shown["b"]] == ["suppressed_until"]
    # Later on the trace says the same, and a new explanation does not.
    live.now += 40_000
    assert "left out until" in (await run(live, "trace", "explain", trace_id)).stdout
    assert "left out until" not in (await run(live, "explain")).stdout


def written(explanation: Explanation, *, every: bool, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is shown on a terminal of 80 columns."""
    out = StringIO()
    console = Console(width=80, file=out, highlight=False, markup=False, emoji=False)
    monkeypatch.setattr(render, "new_console", lambda: console)
    render.explanation(explanation, every=every)
    return out.getvalue().splitlines()


def test_eighty_columns_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [
        EndpointExplanation(
            endpoint_id=f"a-model-with-a-long-name-{number}@a-provider/a-region",
            figures=[
                Figure(name="latency_ms", used="12345", recorded="54321", source="observed"),
                Figure(name="error_rate", used="0.123", source="observed"),
                Figure(name="mood", used="good", recorded="bad", source="guessed"),
            ],
        )
        for number in range(20)
    ]
    lines = written(Explanation(endpoints=many), every=False, monkeypatch=monkeypatch)
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(line.split()) for line in lines)
    assert "Not as the catalogue records it, the first 12 of 20 (--all for every one)" in text
    for part in ("12345 ms", "54321 ms", "0.123", "good"):
        assert text.count(part) == 12
    lines = written(Explanation(endpoints=many), every=True, monkeypatch=monkeypatch)
    assert " ".join(lines).count("12345 ms") == 20


def test_nothing_is_told_where_nothing_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Explanation(endpoints=[EndpointExplanation(endpoint_id="a")])
    assert not any("recorded" in line for line in written(plain, every=True, monkeypatch=monkeypatch))
