"""OpenAI's SDK for Node, as it is, against the same proxy; node/sdk.test.mjs says what it sees."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from clients.openai_proxy.tests.backend import Backend
from clients.openai_proxy.tests.conftest import Reports
from clients.openai_proxy.tests.world import PATIENCE_S, ProxyProcess, until

NODE = Path(__file__).parent / "node"
NEEDED = ("node", "npm")


@pytest.fixture(scope="module")
def installed() -> None:
    """The SDK of package-lock.json in node_modules, which git ignores."""
    missing = [one for one in NEEDED if shutil.which(one) is None]
    if missing and not os.environ.get("CI"):
        pytest.skip(f"this machine has no {' and no '.join(missing)}")
    lock, there = NODE / "package-lock.json", NODE / "node_modules" / ".package-lock.json"
    if not there.exists() or there.stat().st_mtime < lock.stat().st_mtime:
        quiet = [shutil.which("npm") or "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(quiet, cwd=NODE, check=True, timeout=10 * PATIENCE_S)


@pytest.mark.usefixtures("installed")
def test_the_sdk_for_node(proxy: ProxyProcess, backend: Backend, reports: Reports) -> None:
    done = subprocess.run(
        [shutil.which("node") or "node", "--test", "--test-reporter=tap", "sdk.test.mjs"],
        cwd=NODE,
        env={**os.environ, "BASE_URL": proxy.url},
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.findall(r"^# pass (\d+)$", done.stdout, re.MULTILINE)[0]) >= 15
    assert re.findall(r"^# (?:skipped|todo) (\d+)$", done.stdout, re.MULTILINE) == ["0", "0"]
    until(backend.left.is_set)  # it hung up on one
    (trace,) = reports.router.list_traces(endpoint_id="endless@endless-node")
    assert reports.of(trace.trace_id).outcome == "cancelled"


def test_the_lock_names_no_address() -> None:
    assert "resolved" not in (NODE / "package-lock.json").read_text("utf-8")
