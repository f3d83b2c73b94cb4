"""The alerts: their rules hold water, each fires in a test, and each points to a page that says what to do."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.deploy.monitoring import ALERTS, PROMETHEUS, ROOT, metrics_of, promtool
from tests.deploy.test_metrics_page import told

TESTS: dict[str, Any] = yaml.safe_load((PROMETHEUS / "tests/alerts.yaml").read_text(encoding="utf-8"))
RUNBOOK = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
NAMES = [one["alert"] for one in ALERTS]


def test_promtool_takes_the_rules_and_the_configuration() -> None:
    promtool("check", "rules", str(PROMETHEUS / "alerts.yaml"))
    promtool("check", "config", str(PROMETHEUS / "prometheus.yaml"))


def test_the_rules_pass_their_tests() -> None:
    promtool("test", "rules", str(PROMETHEUS / "tests/alerts.yaml"))


def test_every_alert_fires_in_a_test() -> None:
    firing = {
        found
        for one in TESTS["tests"]
        for asked in one["promql_expr_test"]
        for sample in asked["exp_samples"]
        for found in re.findall(r'alertname="(\w+)", alertstate="firing"', sample["labels"])
    }
    assert firing == set(NAMES)


@pytest.mark.parametrize("alert", ALERTS, ids=NAMES)
def test_an_alert_has_a_severity_and_says_what_to_do(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in ("critical", "warning", "info")
    assert set(alert["annotations"]) == {"summary", "description", "runbook"}
    page, _, anchor = alert["annotations"]["runbook"].partition("#")
    assert (page, anchor) == ("docs/operating.md", alert["alert"].lower())
    assert f"\n### {alert['alert']}\n" in RUNBOOK


def test_the_runbook_has_no_alert_that_there_is_not() -> None:
    assert re.findall(r"^### (Router\w+)$", RUNBOOK, re.MULTILINE) == NAMES


def test_every_metric_of_the_rules_and_of_their_tests_is_told_by_a_live_server(scrape: str) -> None:
    samples = samples_of(scrape)
    used = {name for one in ALERTS for name in metrics_of(one["expr"])}
    used |= {series["series"].partition("{")[0] for one in TESTS["tests"] for series in one["input_series"]}
    assert used - {"up"} <= samples


def samples_of(scrape: str) -> set[str]:
    """The names that can be asked for: of a histogram its parts."""
    parts = ("", "_bucket", "_count", "_sum")
    return {f"{name}{part}" for name in told(scrape) for part in parts if f"{name}{part}" in scrape}
