"""The page on the catalogue names every key, default and word, and its example loads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from router_service.catalog.check import check
from router_service.catalog.form import CIRCUITS, SECTIONS, SETTINGS
from router_service.domain import words
from router_service.domain.thresholds import Thresholds
from tests.catalog.yaml_files import write

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "catalogue.md").read_text(encoding="utf-8")
# The first cells of all rows of all tables: the keys that have a row.
ROWS = {key for row in re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE) for key in re.findall(r"`([^`]+)`", row)}


def test_every_key_has_a_row_and_every_row_is_a_key() -> None:
    keys = {name for section in (*SECTIONS, CIRCUITS) for name in section.fields}
    assert keys | {section.name for section in (*SECTIONS, CIRCUITS)} | set(SETTINGS) == ROWS


def test_every_refused_key_is_named() -> None:
    for name in (name for section in SECTIONS for name in section.refused):
        assert f"`{name}`" in PAGE


@pytest.mark.parametrize(
    "known",
    [
        words.KINDS,
        words.STATUSES,
        words.SOVEREIGNTIES,
        words.MODEL_TYPES,
        words.MODALITIES,
        words.STRUCTURED_OUTPUTS,
        sorted(words.POOL_NAMES - {""}),
    ],
)
def test_every_word_is_named(known: Iterable[str]) -> None:
    assert [word for word in known if f"`{word}`" not in PAGE] == []


def test_every_default_is_named() -> None:
    for section in SECTIONS:
        for default in section.defaults.values():
            assert f"`{default}` (the default)" in PAGE


def test_every_default_of_circuits_is_told() -> None:
    for name, default in msgspec.structs.asdict(Thresholds()).items():
        assert f"| `{name}` | {default} |" in PAGE


def test_the_other_examples_load_beside_it(tmp_path: Path) -> None:
    first, *others = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    write(tmp_path, a=first, **{f"b{number}": one for number, one in enumerate(others)})
    content = check(tmp_path, 0).content
    assert content is not None
    assert [one.label for one in content.workloads] == ["invoices@2026-11-30"]
    assert content.thresholds == Thresholds(failures_in_row=3, open_ms=15_000)


def test_the_example_of_the_page_loads_without_warnings(tmp_path: Path) -> None:
    example = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]
    report = check(write(tmp_path, a=example), 0)
    assert not report.problems
    assert not report.warnings
    assert report.content is not None
    endpoint = report.content.endpoints[0]
    assert (endpoint.context_window, endpoint.strong_languages) == (131072, ())
