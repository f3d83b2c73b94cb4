"""docs/logs.md names every event of the log with its level and fields, and no other."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEVELS = ("debug", "info", "warning", "error")
# Fields that are spread into a call, by the event.
SPREAD = {
    "a worker has ended and is replaced": {"signal", "exit_code"},
    "the first worker has ended": {"signal", "exit_code"},
}
AUDIT = "audit"
# A fault's traceback is written under another name than it is given by.
WRITTEN_AS = {"exc_info": "exception"}


def told() -> Iterator[tuple[str, str, set[str]]]:
    """Every event that the code logs, with its level and fields."""
    for path in sorted((ROOT / "router_service").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            logger = ast.unparse(node.func.value).rpartition(".")[2].lstrip("_")
            if node.func.attr in LEVELS and logger in ("log", "logger", "journal"):
                texts = [one.value for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant)]
                assert texts, f"{path}:{node.lineno}: an event is a text that stands in the code"
                fields = {WRITTEN_AS.get(one.arg, one.arg) for one in node.keywords if one.arg}
                for text in texts:
                    yield str(text), node.func.attr, fields | SPREAD.get(str(text), set())


def rows() -> dict[str, tuple[set[str], set[str]]]:
    """The page's levels and fields by event."""
    page = (ROOT / "docs/logs.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| `([^`]+)` \| ([a-z, ]+) \| (.*?) \| .* \|$", page, re.MULTILINE)
    return {event: (set(levels.split(", ")), set(re.findall(r"`(\w+)`", fields))) for event, levels, fields in found}


def test_the_page_has_every_event_with_its_levels_and_fields() -> None:
    levels: defaultdict[str, set[str]] = defaultdict(set)
    fields: defaultdict[str, set[str]] = defaultdict(set)
    for event, level, named in told():
        levels[event].add(level)
        fields[event] |= named
    page = rows()
    assert len(page) > 30
    assert set(page) == set(levels)
    assert {event: one[0] for event, one in page.items()} == levels
    del page[AUDIT]
    # What every line of a worker has may be named with its own.
    assert {event: one[1] - {"worker"} for event, one in page.items()} == {
        event: named - {"worker"} for event, named in fields.items() if event != AUDIT
    }
