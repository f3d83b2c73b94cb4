"""`router-service trace` against a server: what a person sees, what a program reads, and the exit codes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from router_service.cli import main
from router_service.domain.reasons import REFUSALS
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest
from tests.server.in_process import CATALOG, EVERYTHING_CHANGED, InProcess, forgetful

__all__ = ["forgetful"]  # a fixture

SENTENCE = (
    "Automatic routing for a coding task with eu-hosted residency: small in fr-par, EU-owned and EU-hosted; "
    "1 of 3 endpoints excluded; partner endpoints not allowed."
)
REFUSED = "Policy clinic requires a data class and the request names none."


class Kept(InProcess):
    """A server that has decided once, refused once, decided again, and been told of the first."""

    first = refused = last = ""

    async def fill(self) -> None:
        request = RouteRequest(task="coding", input_tokens=1000, regions=["DE", "FR"])
        asked = pb.DecideRequest(request=request, data_class="health", operation_id="op [7]")
        self.first = (await self.router.Decide(asked)).decision.trace_id
        self.now += 1000
        self.refused = (await self.router.Decide(pb.DecideRequest(policy_id="clinic"))).refusal.trace_id
        self.now += 1000
        asked = pb.DecideRequest(policy_id="world", request=RouteRequest(model="large"))
        self.last = (await self.router.Decide(asked)).decision.trace_id
        attempts = [
            Attempt(
                attempt_id="[/try] 1",
                endpoint_id="small@a",
                failure_class="transient",
                status_code=503,
                error_code="overloaded",
                retry_after_ms=2000,
                timeout_ms=4500,
            ),
            Attempt(attempt_id="try 2", endpoint_id="large@b", latency_ms=731, cost=0.0125, finish_reason="stop"),
        ]
        report = Report(trace_id=self.first, outcome="accepted", attempts=attempts)
        await self.router.Report(pb.ReportRequest(report=report))

    async def run(self, *arguments: str) -> Result:
        """The verb with these arguments, asking this server; in a thread, since the server has this one."""
        given = ["trace", *arguments, "--server", f"127.0.0.1:{self.port}"]
        return await asyncio.to_thread(CliRunner().invoke, main, given, catch_exceptions=False)


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncIterator[Kept]:
    server = Kept(tmp_path)
    async with server.running():
        await server.serve(CATALOG)
        await server.fill()
        yield server


async def test_show_tells_the_answer_the_request_and_the_reports(kept: Kept) -> None:
    done = await kept.run("show", kept.first)
    assert done.exit_code == 0
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert lines[0] == SENTENCE
    for part in (
        "Failover list",
        "1  small@a",
        "2  large@b",
        "Passed over: 1 of 3 endpoints",
        "2027-01-15 08:00:00 UTC",
        "2027-02-14 08:00:00 UTC (retention 30d)",
        "health",
        "op [7]",
        "input_tokens  1000",
        "task          coding",
        "regions       DE, FR",
        "Report 1: accepted",
        "transient, 503, overloaded",
        "time-out 4500 ms",
        "asked to wait 2000 ms",
        "[/try] 1",
        "success, stop",
        "731 ms",
        "0.0125",
    ):
        assert part in done.stdout


async def test_show_tells_a_refusal(kept: Kept) -> None:
    done = await kept.run("show", kept.refused)
    assert done.exit_code == 0
    assert REFUSED in done.stdout
    assert "data_class_not_allowed (HTTP 403)" in done.stdout
    assert "nothing but what every request asks" in done.stdout
    assert "Nothing was reported." in done.stdout


async def test_show_as_json(kept: Kept) -> None:
    trace = json.loads((await kept.run("show", kept.first, "--output", "json")).stdout)
    assert trace["decision"]["sentence"] == SENTENCE
    assert trace["request"]["input_tokens"] == 1000
    assert [one["attempt_id"] for one in trace["reports"][0]["attempts"]] == ["[/try] 1", "try 2"]
    assert "latency_ms" not in trace["reports"][0]["attempts"][0]


async def test_list_as_a_table(kept: Kept) -> None:
    done = await kept.run("list")
    assert done.exit_code == 0
    title, *rows = (line.split() for line in done.stdout.splitlines())
    assert title == "time (UTC) outcome policy model first candidate trace id".split()
    assert rows == [
        ["2027-01-15", "08:00:02", "decided", "world", "large", "large@us", kept.last],
        ["2027-01-15", "08:00:01", "data_class_not_allowed", "clinic", "auto", "–", kept.refused],
        ["2027-01-15", "08:00:00", "decided", "eu", "auto", "small@a", kept.first],
    ]


async def listed(kept: Kept, *arguments: str) -> list[str]:
    done = await kept.run("list", "--output", "json", *arguments)
    traces = json.loads(done.stdout)["traces"]
    assert all("reports" not in one for one in traces)
    return [one["trace_id"] for one in traces]


async def test_list_filters(kept: Kept) -> None:
    assert await listed(kept) == [kept.last, kept.refused, kept.first]
    assert await listed(kept, "--limit", "1") == [kept.last]
    assert await listed(kept, "--policy", "eu") == [kept.first]
    assert await listed(kept, "--outcome", "data_class_not_allowed") == [kept.refused]
    assert await listed(kept, "--endpoint", "large@us") == [kept.last]
    assert await listed(kept, "--since", "2027-01-15T08:00:01Z") == [kept.last, kept.refused]
    assert await listed(kept, "--until", "2027-01-15T09:00:01+01:00") == [kept.first]
    done = await kept.run("list", "--policy", "nobody's")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "No trace matches.\n")


async def test_export_writes_a_line_for_each(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("router_service.wire.client.PAGE_MAX", 2)
    lines = (await kept.run("export")).stdout.splitlines()
    assert [json.loads(line)["trace_id"] for line in lines] == [kept.last, kept.refused, kept.first]
    assert all("reports" not in json.loads(line) for line in lines)
    lines = (await kept.run("export", "--outcome", "decided", "--reports")).stdout.splitlines()
    assert [len(json.loads(line)["reports"]) for line in lines] == [0, 1]
    assert json.loads(lines[1]) == json.loads((await kept.run("show", kept.first, "--output", "json")).stdout)


async def test_explain_tells_it_again_after_everything_changed(kept: Kept) -> None:
    before = await kept.run("explain", kept.first, "--all")
    await kept.serve(EVERYTHING_CHANGED)
    after = await kept.run("explain", kept.first, "--all")
    assert after.stdout == before.stdout
    assert (after.exit_code, after.stdout.splitlines()[0].rstrip()) == (0, SENTENCE)
    assert "class global, policy lists eu-hosted" in after.stdout
    assert kept.first in after.stdout
    told = json.loads((await kept.run("explain", kept.first, "--output", "json")).stdout)
    shown = json.loads((await kept.run("show", kept.first, "--output", "json")).stdout)
    assert told["explanation"]["decision"] == shown["decision"]


async def test_explain_of_a_refusal_has_exit_code_1(kept: Kept) -> None:
    done = await kept.run("explain", kept.refused)
    assert done.exit_code == 1
    assert REFUSED in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("show", "0" * 32), "NOT_FOUND: no trace"),
        (("explain", "0" * 32), "NOT_FOUND: no trace"),
        (("show", "mine"), "trace_id: "),
        (("list", "--outcome", "perhaps"), "outcome: "),
        (("list", "--since", "noon", "--until", "dusk"), "--since: "),
        (("export", "--since", "noon", "--until", "dusk"), "--until: "),
        (("list", "--limit", "0"), "--limit"),
    ],
)
async def test_misuse_has_exit_code_2(kept: Kept, arguments: tuple[str, ...], told: str) -> None:
    done = await kept.run(*arguments)
    assert done.exit_code == 2
    assert told in done.stderr
    assert done.stdout == ""


async def test_a_server_without_a_store_says_so(forgetful: InProcess) -> None:
    given = ["trace", "list", "--server", f"127.0.0.1:{forgetful.port}"]
    done = await asyncio.to_thread(CliRunner().invoke, main, given, catch_exceptions=False)
    assert done.exit_code == 2
    assert "--store" in done.stderr


@pytest.mark.parametrize("verb", [("list",), ("export",), ("show", "0" * 32), ("explain", "0" * 32)])
def test_an_unreachable_server_has_exit_code_3(verb: tuple[str, ...]) -> None:
    done = CliRunner().invoke(main, ["trace", *verb, "--server", "127.0.0.1:1", "--timeout", "2"])
    assert done.exit_code == 3
    assert "127.0.0.1:1" in done.stderr


def test_help_names_every_outcome() -> None:
    text = CliRunner().invoke(main, ["trace", "list", "--help"]).stdout
    assert all(outcome in text for outcome in ("decided", *REFUSALS))


async def test_a_request_names_its_class_of_data_and_its_operation(kept: Kept) -> None:
    flags = ("--policy", "clinic", "--data-class", "Health", "--operation-id", "mine")
    target = f"127.0.0.1:{kept.port}"
    kept.now += 1
    for verb in ("decide", "explain"):
        done = await asyncio.to_thread(CliRunner().invoke, main, [verb, "--server", target, *flags])
        assert done.exit_code == 0
    (trace_id,) = await listed(kept, "--limit", "1")
    trace = json.loads((await kept.run("show", trace_id, "--output", "json")).stdout)
    assert (trace["data_class"], trace["operation_id"]) == ("health", "mine")


@pytest.mark.parametrize("verb", ["decide", "explain"])
def test_a_catalogue_refuses_classes_of_data_as_a_server_does(tmp_path: Path, verb: str) -> None:
    path = tmp_path / "catalog.yaml"
    path.write_text(CATALOG)
    given = [verb, "--catalog", str(path), "--policy", "clinic"]
    assert CliRunner().invoke(main, [*given, "--data-class", "health"]).exit_code == 0
    done = CliRunner().invoke(main, [*given, "--data-class", "personal"])
    assert done.exit_code == 1
    assert "Policy clinic does not allow the data class personal." in done.stdout
    assert CliRunner().invoke(main, given).exit_code == 1
