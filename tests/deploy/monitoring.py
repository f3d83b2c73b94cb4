"""promtool and prometheus, and what the files of deploy/ say, for the tests that hold them to a live server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROMETHEUS = ROOT / "deploy/prometheus"
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy/grafana/router-service.json").read_text(encoding="utf-8"))
ALERTS: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((PROMETHEUS / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
# (where it stands, the query) of all that is asked of the metrics.
PANEL_QUERIES = [(panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]]
OTHER_QUERIES = [
    *((one["name"], one["expr"]) for one in DASHBOARD["annotations"]["list"]),
    *((one["alert"], one["expr"]) for one in ALERTS),
]
VARIABLE_QUERIES = [
    (one["name"], one["query"]["query"]) for one in DASHBOARD["templating"]["list"] if one["type"] == "query"
]
_QUOTED = re.compile(r'"[^"]*"')
_METRIC = re.compile(r"\b(?:router|process)_[a-z_]+\b")
_FILLED = {"$__rate_interval": "1m", "$__range": "1h", "$job": ".*", "$policy": ".*", "$route": ".*"}


def binary(name: str) -> str:
    """Where it is. In CI a missing one is a failure, elsewhere the test is skipped."""
    found = shutil.which(name)
    if found is None:
        missing = f"{name} is not installed (apt-get install prometheus)"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


def promtool(*arguments: str, text: str = "") -> str:
    """What it says; fails with that where it finds fault."""
    done = subprocess.run([binary("promtool"), *arguments], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def metrics_of(expr: str) -> set[str]:
    """The names of metrics in a PromQL query."""
    return set(_METRIC.findall(_QUOTED.sub("", expr)))


def filled(expr: str) -> str:
    """A query of the dashboard with values for its variables."""
    for name, value in _FILLED.items():
        expr = expr.replace(name, value)
    return expr
