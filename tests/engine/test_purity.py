"""The engine reads no clock, no file, no socket, no environment and no random number: an audit hook sees to it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import router_service.domain
import router_service.engine

PACKAGES = (Path(router_service.domain.__file__).parent, Path(router_service.engine.__file__).parent)
FORBIDDEN = {
    "asyncio", "glob", "http", "io", "logging", "os", "pathlib", "random", "secrets", "select", "shutil", "signal",
    "socket", "subprocess", "tempfile", "threading", "time", "urllib", "uuid", "grpc", "google", "structlog",
}  # fmt: skip

# Runs decisions in a process of its own where, once all is imported, every audit event but harmless ones is a failure,
# and where clocks, the environment and randomness raise.
PROGRAM = """
import json, sys
from tests.vector_form import decided, explained
cases = [json.loads(line) for line in open("tests/vectors/decisions.jsonl")]
decided(cases[0]); explained(cases[0])
import os, random, time
def forbidden(*_, **__):
    raise AssertionError("impure")
for module, names in ((time, ("time", "time_ns", "monotonic", "perf_counter")), (random, ("random", "getrandbits"))):
    for name in names:
        setattr(module, name, forbidden)
os.urandom = os.getenv = forbidden
type(os.environ).__getitem__ = forbidden
events = []
watching = True
def hook(event, arguments):
    if watching and event.split(".")[0] in ("open", "socket", "os", "subprocess", "import", "time", "shutil", "ctypes"):
        events.append((event, str(arguments)[:200]))
sys.addaudithook(hook)
for case in cases:
    decided(case); explained(case)
watching = False
assert not events, events
watching = True
open("tests/vectors/decisions.jsonl").close()
watching = False
assert events, "the hook sees nothing"
print(len(cases))
"""


def test_deciding_touches_nothing_outside_itself() -> None:
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run([sys.executable, "-c", PROGRAM], cwd=root, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= 40


def test_engine_and_domain_import_nothing_that_reads_the_world() -> None:
    for package in PACKAGES:
        for file in sorted(package.glob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                wrong = {name.split(".")[0] for name in names} & FORBIDDEN
                assert not wrong, f"{file.name} imports {wrong}"


def test_inside_the_engine_only_decide_and_explain_know_each_other() -> None:
    """No part of the engine imports decide or explain, and explain is imported by none."""
    for file in sorted(PACKAGES[1].glob("*.py")):
        imported = {node.module for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)}
        known = {name for name in ("decide", "explain") if f"router_service.engine.{name}" in imported}
        assert known <= ({"decide"} if file.name == "explain.py" else set()), file.name
