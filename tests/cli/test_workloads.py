"""Workloads on the command line: asked for, shown, and told of when they do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_cli import run, without_trace_of
from tests.server.conftest import CATALOG, ServerProcess, catalog_file, server

__all__ = ["catalog_file", "server"]  # fixtures of the server's tests

WORKLOADS = """\
workloads:
- {name: chat, version: 1, max_attempts: 1}
- {name: chat, version: 2, input_tokens: 9000, max_cost: 5, task: support}
"""


@pytest.fixture
def with_workloads(catalog_file: Path) -> str:
    catalog_file.write_text(CATALOG + WORKLOADS)
    return str(catalog_file)


def test_a_workload_is_asked_for_and_shown(with_workloads: str) -> None:
    done = run("decide", "--catalog", with_workloads, "--workload", "chat@1")
    assert done.exit_code == 0
    assert "small@a" in done.stdout
    assert "large@b" not in done.stdout
    assert "policy eu · workload chat@1 · residency eu-hosted" in done.stdout
    refused = run("decide", "--catalog", with_workloads, "--workload", "chat", "--residency", "eu-owned")
    assert refused.exit_code == 1
    assert "· workload chat ·" in refused.stdout


def test_an_explanation_tells_what_came_from_the_workload(with_workloads: str) -> None:
    told = run("explain", "--catalog", with_workloads, "--task", "coding", env={"ROUTER_SERVICE_WORKLOAD": "Chat"})
    assert told.exit_code == 1  # nothing here has a price
    for part in ("workload chat@2", "Asked under workload chat@2"):
        assert part in told.stdout
    rows = [line.split() for line in told.stdout.splitlines()]
    for row in (["task", "coding", "request"], ["input_tokens", "9000", "workload"], ["max_cost", "5", "workload"]):
        assert row in rows
    arguments = ("explain", "--catalog", with_workloads, "--workload", "chat@1", "--output", "json")
    explanation = json.loads(run(*arguments).stdout)["explanation"]
    assert explanation["workload"] == "chat@1"
    assert explanation["origins"] == [{"field": "max_attempts", "source": "workload", "value": "1"}]
    assert "Asked under" not in run("explain", "--catalog", with_workloads).stdout


def test_what_does_not_go_with_a_workload_is_told_line_by_line(with_workloads: str) -> None:
    for named, told in (("chat@3", 'no workload "chat@3"'), ("cha t", "name@version"), ("chats", "ListWorkloads")):
        done = run("decide", "--catalog", with_workloads, "--workload", named)
        assert done.exit_code == 2
        assert told in done.stderr
    # A limit of cost may stand on the workload's tokens, and not on nothing.
    limit = ("--catalog", with_workloads, "--max-cost", "1")
    assert run("decide", *limit, "--workload", "chat").exit_code == 1
    assert "--max-cost" in run("decide", *limit).stderr
    done = run("decide", *limit, "--workload", "chat@1", "--regions", "FR")
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith("Error: request.max_cost: with workload chat@1, ")


def test_a_server_and_a_catalogue_show_the_same_of_a_workload(server: ServerProcess) -> None:
    request = ("--workload", "invoices", "--input-tokens", "6000", "--max-cost", "0.01", "--output", "json")
    asked, offline = (run("explain", *where, *request) for where in (("--server", server.target), ()))
    told, expected = (json.loads(one.stdout)["explanation"] for one in (asked, offline))
    assert told["workload"] == expected["workload"] == "invoices@2026-11-30"
    assert told["origins"] == expected["origins"]
    assert without_trace_of(run("decide", "--server", server.target, *request)) == without_trace_of(
        run("decide", *request)
    )
    unknown = run("decide", "--server", server.target, "--workload", "nobody-s")
    assert (unknown.exit_code, "NOT_FOUND" in unknown.stderr) == (2, True)


def test_check_counts_workloads(with_workloads: str) -> None:
    assert "2 policies, 2 workloads, version" in run("check", with_workloads).stdout
