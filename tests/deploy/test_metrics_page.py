"""docs/metrics.md tells of every metric that a live server has, with its labels, and of none that it has not."""

from __future__ import annotations

import re
from collections import defaultdict

from prometheus_client.parser import text_string_to_metric_families

from router_service.server import metrics, outcomes, states
from tests.deploy.monitoring import ROOT, metrics_of, promtool

PAGE = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
# Rows of tables whose first cell names metrics: their names, and the labels of the second cell.
ROWS = {
    name: set(re.findall(r"`(\w+)`", labels))
    for names, labels in re.findall(r"^\| (`(?:router|process)_.*?`) \| (.*?) ?\|", PAGE, re.MULTILINE)
    for name in re.findall(r"`(\w+)`", names)
}


def told(scrape: str) -> dict[str, set[str]]:
    """The labels of each metric of a scrape, by the name under which it is asked for."""
    labels: dict[str, set[str]] = defaultdict(set)
    for family in text_string_to_metric_families(scrape):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels[name].update(key for sample in family.samples for key in sample.labels if key != "le")
    return labels


def test_every_metric_has_a_row_with_its_labels_and_every_row_is_a_metric(scrape: str) -> None:
    assert told(scrape) == ROWS


def test_every_metric_has_rows_after_decisions_and_reports(scrape: str) -> None:
    empty = {family.name for family in text_string_to_metric_families(scrape) if not family.samples}
    assert empty == set()


def test_promtool_finds_no_fault_in_a_scrape(scrape: str) -> None:
    assert promtool("check", "metrics", text=scrape) == ""


def test_the_queries_of_the_page_ask_for_metrics_that_there_are() -> None:
    asked = {name for block in re.findall(r"```promql\n(.*?)```", PAGE, re.DOTALL) for name in metrics_of(block)}
    assert asked
    assert asked <= set(ROWS)


def test_the_bounds_of_labels_are_told() -> None:
    limits = [metrics.POLICIES_MAX, metrics.ENDPOINTS_MAX, outcomes.PAIRS_MAX, states.CIRCUITS_MAX]
    assert [one for one in limits if not re.search(rf"\b{one}\b", PAGE)] == []
