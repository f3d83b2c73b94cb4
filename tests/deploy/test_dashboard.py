"""The dashboard: it is what its table says, asks for what there is, and shows all that is to be measured."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from tests.deploy.monitoring import (
    DASHBOARD,
    OTHER_QUERIES,
    PANEL_QUERIES,
    PANELS,
    ROOT,
    VARIABLE_QUERIES,
    filled,
    metrics_of,
    promtool,
)
from tests.deploy.test_alerts import samples_of

QUERIES = PANEL_QUERIES + OTHER_QUERIES
# reliability.md, What is measured: each with a metric without which nobody could show it.
MEASURED = {
    "decisions by outcome": "router_decisions_total",
    "excluded by reason": "router_excluded_endpoints_total",
    "fallback share": "router_operation_fallbacks_total",
    "attempts per completed request": "router_operation_attempts_total",
    "deadline-exhausted share": 'router_operations_total{job=~"$job", policy=~"$policy", route=~"$route", '
    'outcome="deadline_exhausted"}',
    "validation-rejected share": 'class="invalid_response"',
    "ambiguous outcomes": 'outcome="ambiguous"',
    "cost per accepted response": "router_operation_cost_total",
    "latency by final route": "router_attempt_latency_seconds_bucket",
    "circuit states": "router_circuit_state",
    "budget spent": "router_budget_spent",
    "traces dropped": "router_traces_dropped_total",
}


def test_it_is_what_its_table_says() -> None:
    subprocess.run([sys.executable, ROOT / "tools/dashboard.py", "--check"], check=True)


@pytest.mark.parametrize("item", MEASURED)
def test_everything_that_is_to_be_measured_has_a_panel(item: str) -> None:
    assert any(MEASURED[item] in expr for _, expr in PANEL_QUERIES)


def test_every_metric_that_it_asks_for_is_told_by_a_live_server(scrape: str) -> None:
    samples = samples_of(scrape)
    unknown = {where: names for where, expr in QUERIES + VARIABLE_QUERIES if (names := metrics_of(expr) - samples)}
    assert unknown == {}


def test_every_query_is_promql(tmp_path: Path) -> None:
    """As promtool reads it: in a rule, with values for the variables."""
    rules = [{"record": f"one:{number}", "expr": filled(expr)} for number, (_, expr) in enumerate(QUERIES)]
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "all", "rules": rules}]}))
    promtool("check", "rules", "--lint=none", str(file))


def test_variables_that_are_used_are_there_and_those_that_are_there_are_used() -> None:
    used = {name for _, expr in PANEL_QUERIES for name in re.findall(r"\$\{?([a-z]\w*)", expr)}
    used |= {name for panel in PANELS for name in re.findall(r"\$\{([a-z]\w*)\}", str(panel["datasource"]))}
    assert used == {one["name"] for one in DASHBOARD["templating"]["list"]}


def test_every_panel_has_a_place_of_its_own_a_name_and_a_word_of_what_it_is() -> None:
    cells: dict[int, set[tuple[int, int]]] = {}
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells[panel["id"]] = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
    assert len(cells) == len(DASHBOARD["panels"])
    assert not any(one & other for one, other in combinations(cells.values(), 2))
    assert all(panel["title"] and panel["description"] for panel in PANELS)
    assert len({panel["title"] for panel in PANELS}) == len(PANELS)


def test_every_panel_says_its_unit_and_colours_have_limits_in_order() -> None:
    for panel in PANELS:
        defaults = panel["fieldConfig"]["defaults"]
        assert "unit" in defaults or panel["type"] in ("state-timeline", "table"), panel["title"]
        first, *later = [step["value"] for step in defaults["thresholds"]["steps"]]
        assert first is None
        assert later == sorted(later)
