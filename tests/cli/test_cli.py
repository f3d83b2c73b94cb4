"""The command line: what it prints, for people and for programs, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from router_service import __version__
from router_service.cli import main
from router_service.domain.request import FIELDS
from tests.server.conftest import CATALOG, ServerProcess, catalog_file, server

__all__ = ["catalog_file", "server"]  # fixtures of the server's tests


def run(*arguments: str, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(main, list(arguments), env=env, catch_exceptions=False)


def test_version() -> None:
    assert run("version").stdout.strip() == f"router-service {__version__}"


def test_help_names_every_verb() -> None:
    text = run("--help").stdout
    for verb in ("serve", "decide", "explain", "check", "schema", "import", "health", "version"):
        assert f"  {verb} " in text


@pytest.mark.parametrize("verb", ["decide", "explain"])
def test_every_field_of_a_request_has_a_flag_and_a_variable(verb: str) -> None:
    text = " ".join(run(verb, "--help").stdout.split())
    for name in FIELDS:
        assert f"--{name.replace('_', '-')}" in text
        assert f"ROUTER_SERVICE_{name.upper()}" in text


def test_a_decision_as_a_table(catalog_file: Path) -> None:
    done = run("decide", "--catalog", str(catalog_file), "--input-tokens", "1000", "--deadline-ms", "9000")
    assert done.exit_code == 0
    for part in (
        "Automatic routing for a general task with eu-hosted residency: small in fr-par, EU-owned and EU-hosted;",
        "small@a",
        "large@b",
        "may take",
        "task",
        "docs",
        "Passed over: 1 of 3 endpoints",
        "1  sovereignty_denied_by_policy",
        "policy eu",
    ):
        assert part in done.stdout


def test_an_explanation_tells_why_not(catalog_file: Path) -> None:
    done = run("explain", "--catalog", str(catalog_file), "--input-tokens", "9000")
    assert done.exit_code == 0
    assert "needs 9000 tokens, window 8192" in done.stdout
    assert "class global, policy lists eu-hosted" in done.stdout


def test_json_has_the_protos_names_and_is_the_same_each_time(catalog_file: Path) -> None:
    arguments = ("decide", "--catalog", str(catalog_file), "--output", "json", "--now", "2026-11-30")
    first, second = run(*arguments), run(*arguments)
    assert first.stdout == second.stdout
    decision = json.loads(first.stdout)["decision"]
    assert [one["endpoint_id"] for one in decision["candidates"]] == ["small@a", "large@b"]
    assert (decision["considered"], decision["excluded"], decision["pinned"]) == (3, 1, False)
    assert "estimated_cost" not in decision["candidates"][0]
    told = json.loads(run("explain", *arguments[1:]).stdout)
    assert told["explanation"]["decision"] == decision


def test_a_refusal_has_exit_code_1(catalog_file: Path) -> None:
    done = run("decide", "--catalog", str(catalog_file), "--model", "largo")
    assert done.exit_code == 1
    assert "model_not_found (HTTP 404)" in done.stdout
    assert "Did you mean large?" in done.stdout
    assert run("explain", "--catalog", str(catalog_file), "--residency", "eu-owned", "--model", "large").exit_code == 1


def test_bad_flags_are_all_named_with_exit_code_2(catalog_file: Path) -> None:
    done = run(
        "decide", "--catalog", str(catalog_file), "--input-tokens", "many", "--residency", "moon", "--max-cost", "-1"
    )
    assert done.exit_code == 2
    for name in ("--input-tokens", "--residency", "--max-cost"):
        assert name in done.stderr


@pytest.mark.parametrize(
    "arguments", [("--policy", "nobody's"), ("--now", "yesterday"), ("--server", "x:1", "--now", "2026-01-01")]
)
def test_misuse_has_exit_code_2(catalog_file: Path, arguments: tuple[str, ...]) -> None:
    done = run("decide", "--catalog", str(catalog_file), *arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: ")


def test_an_unreachable_server_has_exit_code_3() -> None:
    for verb in ("decide", "explain", "health"):
        done = run(verb, "--server", "127.0.0.1:1", "--timeout", "2")
        assert done.exit_code == 3
        assert "127.0.0.1:1" in done.stderr


def test_a_server_and_a_catalogue_show_the_same(server: ServerProcess) -> None:
    request = (
        "--task",
        "coding",
        "--input-tokens",
        "1000",
        "--output-tokens",
        "100",
        "--max-price",
        "2.5",
        "--requires-tools",
    )

    asked = run("decide", "--server", server.target, "--output", "json", *request)
    offline = run("decide", "--output", "json", *request)
    assert asked.exit_code == offline.exit_code == 0
    assert json.loads(asked.stdout)["decision"].keys() == json.loads(offline.stdout)["decision"].keys()
    assert without_trace_of(asked) == without_trace_of(offline)
    assert "bundled example" in offline.stderr


def without_trace_of(done: Result) -> dict[str, Any]:
    decision = json.loads(done.stdout)["decision"]
    return {key: value for key, value in decision.items() if key != "trace_id"}


def test_flags_have_environment_variables(catalog_file: Path) -> None:
    done = run(
        "decide", "--output", "json", env={"ROUTER_SERVICE_CATALOG": str(catalog_file), "ROUTER_SERVICE_MODEL": "large"}
    )
    assert [one["endpoint_id"] for one in json.loads(done.stdout)["decision"]["candidates"]] == ["large@b"]


def test_health(server: ServerProcess) -> None:
    assert run("health", "--server", server.target).stdout == "SERVING\n"
    assert run("health", "--server", server.target, "--service", "router_service.v1.RouterService").exit_code == 0
    unknown = run("health", "--server", server.target, "--service", "nobody's")
    assert unknown.exit_code == 2


def test_check_names_every_problem(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(CATALOG)
    bad.write_text(CATALOG.replace("sovereignty: global", "sovereignty: eu-owned").replace("8192", "-1"))
    assert run("check", str(good)).exit_code == 0
    done = run("check", str(bad))
    assert done.exit_code == 2
    assert f"{bad}:4: " in done.stdout
    assert f"{bad}:9: " in done.stdout
    assert "2 problems" in done.stdout


def test_check_strict_counts_warnings(tmp_path: Path) -> None:
    path = tmp_path / "warned.yaml"
    path.write_text(CATALOG + "- {policy_id: none, provider_allow: [nobody]}\n")
    assert run("check", str(path)).exit_code == 0
    done = run("check", str(path), "--strict")
    assert done.exit_code == 2
    assert "warning" in done.stdout


def test_schema_is_json() -> None:
    assert json.loads(run("schema").stdout)["$schema"].startswith("https://json-schema.org/")


DATA = Path(__file__).resolve().parents[1] / "data"


@pytest.mark.parametrize(
    ("source", "file"), [("litellm", "litellm_sample.json"), ("models-dev", "models_dev_sample.json")]
)
def test_what_is_imported_can_be_served(tmp_path: Path, source: str, file: str) -> None:
    out = tmp_path / "10-imported.yaml"
    done = run(
        "import", source, str(DATA / file), "--owners", str(DATA / "owners_sample.tsv"), "--rate", "USD=0.92",
        "--currency", "EUR", "--out", str(out),
    )  # fmt: skip
    assert done.exit_code == 0
    assert "rows read" in done.stderr
    (tmp_path / "90-policies.yaml").write_text(
        "default_policy: any\npolicies:\n- {policy_id: any, residency: [eu-hosted, global]}\n"
    )
    assert run("check", str(tmp_path)).exit_code == 0
    assert run("decide", "--catalog", str(tmp_path)).exit_code == 0


def test_an_explicit_server_goes_before_a_catalogue_of_the_environment(
    server: ServerProcess, catalog_file: Path
) -> None:
    env = {"ROUTER_SERVICE_CATALOG": str(catalog_file)}
    done = run("decide", "--server", server.target, "--output", "json", env=env)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["decision"]["policy_id"] == "eu-hosted"
    env = {"ROUTER_SERVICE_SERVER": "127.0.0.1:1"}
    assert run("decide", "--catalog", str(catalog_file), env=env).exit_code == 0


def test_health_asks_where_a_server_of_the_same_environment_listens(server: ServerProcess) -> None:
    assert run("health", env={"ROUTER_SERVICE_LISTEN": server.target}).stdout == "SERVING\n"


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1", "0"])
def test_a_time_that_makes_no_sense(seconds: str) -> None:
    assert run("health", "--timeout", seconds).exit_code == 2


def test_what_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    out = tmp_path / "nowhere" / "x.yaml"
    done = run("import", "litellm", str(DATA / "litellm_sample.json"), "--out", str(out))
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith(f"Error: {out}")


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_no_number_is_ever_cut(columns: int) -> None:
    """At any width of a real terminal every figure of the failover list stands whole."""
    command = f"stty cols {columns}; {sys.executable} -m router_service.cli decide --deadline-ms 8000"
    script = ["/usr/bin/script", "-qec", command, "/dev/null"]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    for figure in ("3473 ms", "2470 ms", "1756 ms"):
        assert figure in done.stdout


@pytest.mark.parametrize("rate", ["USD", "USD=0", "USD=x", "EUR=1", "USD=-1", "USD=NaN"])
def test_a_rate_that_makes_no_sense(rate: str) -> None:
    done = run("import", "litellm", str(DATA / "litellm_sample.json"), "--rate", rate, "--currency", "EUR")
    assert done.exit_code == 2
    assert "USD=0.92" in done.stderr


def test_another_currency_needs_a_rate_and_no_traceback_comes_of_a_wrong_file(tmp_path: Path) -> None:
    assert "--rate" in run("import", "litellm", str(DATA / "litellm_sample.json"), "--currency", "EUR").stderr
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[1, 2")
    done = run("import", "litellm", str(wrong))
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: ")
