"""Writes deploy/grafana/router-service.json: the dashboard of what docs/metrics.md tells; --check only compares."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dashboard_panels import AT_LEAST_ONE, SOURCE, Json, laid, limits, stat, words
from dashboard_queries import (
    DECIDE,
    DECISIONS,
    FALLBACKS,
    JOB,
    REFUSED,
    USED,
    ended,
    quantile,
    total_share,
    within,
)
from dashboard_rows import ROWS

FILE = Path(__file__).resolve().parent.parent / "deploy/grafana/router-service.json"

GLANCE: list[Json] = [
    stat("Serving", "Instances that answer decisions.", f"sum(router_serving{{{JOB}}})", thresholds=AT_LEAST_ONE),
    stat("Decisions", "Answers of Decide a second.", f"sum({DECISIONS})", unit="reqps", thresholds=limits()),
    stat(
        "Refused",
        "Share of answers that are refusals.",
        total_share(REFUSED, DECISIONS),
        unit="percentunit",
        thresholds=limits(0.1, 0.25),
    ),
    stat(
        "From a fallback",
        "Share of accepted answers that did not come from the first candidate.",
        total_share(FALLBACKS, ended("accepted")),
        unit="percentunit",
        thresholds=limits(0.1, 0.2),
    ),
    stat(
        "Decide, p99",
        "Time inside the service, without the network.",
        quantile(0.99, "router_rpc_duration_seconds", f"{JOB}, {DECIDE}"),
        unit="s",
        thresholds=limits(0.01, 0.025),
    ),
    stat(
        "Circuits not closed",
        "Endpoints that decisions pass over, or let in for a probe only.",
        f'sum(max by (state) (router_circuits{{{JOB}, state!="closed"}}))',
        thresholds=limits(1, 5),
    ),
    stat(
        "Outside the policy",
        "Attempts in the time range on endpoints that no decision listed. Any is one too many.",
        within("router_report_unlisted_endpoints_total"),
        thresholds=limits(red=1),
    ),
    stat(
        "Traces dropped",
        "Decisions of the time range that can never be shown again.",
        within("router_traces_dropped_total"),
        thresholds=limits(red=1),
    ),
    stat(
        "Store",
        "Whether any instance has lost it.",
        f"max(router_store_lost{{{JOB}}})",
        thresholds=limits(red=1),
        mappings=words(_0=("in use", "green"), _1=("lost", "red")),
    ),
    stat(
        "Catalogue files",
        "Whether any instance rejects what they hold.",
        f"max(router_catalog_rejected{{{JOB}}})",
        thresholds=limits(red=1),
        mappings=words(_0=("good", "green"), _1=("rejected", "red")),
    ),
    stat(
        "Versions served",
        "Versions of the catalogue; more than one while a change makes its way.",
        f"count(count by (version) (router_catalog_version{{{JOB}}}))",
        thresholds=limits(2),
    ),
    stat(
        "Fullest budget",
        "The share of its day's budget that the policy has used that is nearest its end.",
        f"max({USED})",
        unit="percentunit",
        thresholds=limits(0.9, 1),
    ),
]


def variable(name: str, label: str, values: str) -> Json:
    """A choice of some or all values of a label."""
    return {
        "type": "query",
        "name": name,
        "label": label,
        "datasource": SOURCE,
        "query": {"query": values, "refId": name, "qryType": 1},
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "options": [],
        "refresh": 2,
        "regex": "",
        "sort": 1,
    }


def dashboard() -> Json:
    """All of it."""
    loaded = {
        "name": "Catalogue loaded",
        "datasource": SOURCE,
        "enable": True,
        "expr": f"changes(router_catalog_loaded_timestamp_seconds{{{JOB}}}[$__rate_interval]) > 0",
        "iconColor": "blue",
        "titleFormat": "catalogue loaded by {{instance}}",
    }
    return {
        "uid": "router-service",
        "title": "router-service",
        "description": "Where requests may go, where they went and what came of it. docs/metrics.md tells each metric.",
        "tags": ["router-service", "llm"],
        "schemaVersion": 42,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "timezone": "browser",
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "30s",
        "annotations": {"list": [loaded]},
        "links": [],
        "templating": {
            "list": [
                {
                    "type": "datasource",
                    "name": "datasource",
                    "label": "Data source",
                    "query": "prometheus",
                    "options": [],
                    "refresh": 1,
                    "regex": "",
                },
                variable("job", "Job", "label_values(router_build_info, job)"),
                variable("policy", "Policy", f"label_values(router_decisions_total{{{JOB}}}, policy)"),
                variable("route", "Route", f"label_values(router_attempts_total{{{JOB}}}, endpoint)"),
            ]
        },
        "panels": laid({"At a glance": GLANCE} | ROWS),
    }


def main(arguments: list[str]) -> int:
    """Writes the file, or says whether it is as it would be written."""
    text = json.dumps(dashboard(), indent=2, ensure_ascii=False) + "\n"
    if "--check" not in arguments:
        FILE.write_text(text, encoding="utf-8")
    elif not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        print(f"{FILE.name} is not what tools/dashboard.py writes; run it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
