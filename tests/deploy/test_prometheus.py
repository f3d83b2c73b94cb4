"""A real Prometheus scrapes a live server, and every panel of the dashboard and every alert has something to show."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from math import isnan
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.conftest import Live
from tests.deploy.monitoring import ALERTS, PANEL_QUERIES, PROMETHEUS, binary, filled

START_S = 30
ROUNDS = 8

Ask = Callable[[str], list[Any]]


@pytest.fixture(scope="module")
def ask(live: Live, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Answers PromQL, once Prometheus has seen some seconds of traffic."""
    folder = tmp_path_factory.mktemp("prometheus")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    config = yaml.safe_load((PROMETHEUS / "prometheus.yaml").read_text(encoding="utf-8"))
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(PROMETHEUS / "alerts.yaml")]
    config["scrape_configs"][0]["static_configs"] = [{"targets": [live.admin]}]
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    arguments = (
        f"--config.file={folder}/prometheus.yaml",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={address}",
    )
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([binary("prometheus"), *arguments], stdout=log, stderr=log)
    try:
        wait_for(address, folder / "log")
        for _ in range(ROUNDS):
            live.round()
            time.sleep(1)

        def asked(path: str) -> list[Any]:
            with urllib.request.urlopen(f"http://{address}/api/v1/{path}") as page:
                data: dict[str, list[Any]] = json.load(page)["data"]
            return next(value for name, value in data.items() if name in ("result", "groups"))

        yield asked
    finally:
        process.terminate()
        process.wait(START_S)


def wait_for(address: str, log: Path) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"http://{address}/-/ready"):
                return
        except urllib.error.URLError:
            time.sleep(0.1)
    pytest.fail(f"prometheus did not start:\n{log.read_text()}")


# The scraped server has no TLS, so that there is no certificate whose time could run out.
EMPTY_WITHOUT_TLS = ["Time left of the certificate"]


def test_every_panel_has_something_to_show(ask: Ask) -> None:
    shown = {
        where: [float(one["value"][1]) for one in ask("query?" + urllib.parse.urlencode({"query": filled(expr)}))]
        for where, expr in PANEL_QUERIES
    }
    assert [where for where, values in shown.items() if all(isnan(value) for value in values)] == EMPTY_WITHOUT_TLS


def test_alerts_are_evaluated_without_a_fault_and_only_those_fire_that_should(ask: Ask) -> None:
    rules = [rule for group in ask("rules") for rule in group["rules"]]
    assert {rule["name"] for rule in rules} == {one["alert"] for one in ALERTS}
    assert [rule["name"] for rule in rules if rule["health"] != "ok"] == []
    firing = {rule["name"] for rule in rules if rule["state"] == "firing"}
    assert firing == {"RouterUnlistedEndpointReported"}
