"""Workloads and circuits of a catalogue: over several files, in its version, its archive, and what check says."""

from __future__ import annotations

from pathlib import Path

import pytest

from router_service.catalog.archive import pack, unpack
from router_service.catalog.aside import load_aside
from router_service.catalog.check import check
from router_service.catalog.load import load
from router_service.catalog.snapshot import Snapshot
from router_service.catalog.workloads import REMEMBERED, Workloads
from router_service.domain.request import Stated
from router_service.domain.thresholds import Thresholds
from router_service.domain.workload import Workload
from router_service.engine.index import Index
from tests.builders import endpoint
from tests.catalog.test_check import CATALOG, NOW
from tests.catalog.yaml_files import WHOLE, problems_of, shown, write

TWO = "workloads: [{name: a, version: 2, input_tokens: 5}, {name: a, version: 10}, {name: b, version: 1}]\n"


def test_files_may_divide_workloads_and_not_define_one_twice(tmp_path: Path) -> None:
    write(tmp_path, a=WHOLE, b=TWO, c="workloads: [{name: a, version: 3}]")
    assert [one.label for one in load(tmp_path).workloads] == ["a@2", "a@3", "a@10", "b@1"]
    assert problems_of(write(tmp_path, d="workloads:\n- {name: A, version: 2}\n- {name: b, version: 01}\n")) == [
        (
            "d.yaml:2: workloads[a@2].name: defined twice, the first time in b.yaml:1; "
            "join the two, or give one another name"
        ),
        (
            "d.yaml:3: workloads[b@01].version: the same numbers as b@1 (b.yaml:1), so that neither is the newer one; "
            "give one of the two another version"
        ),
    ]


def test_files_may_state_thresholds_together_and_not_each_its_own(tmp_path: Path) -> None:
    write(tmp_path, a=WHOLE, b="circuits: {open_ms: 1000}", c="circuits:\n  probes: 2\n  open_ms: 1e3\n", d="circuits:")
    assert load(tmp_path).thresholds == Thresholds(open_ms=1000, probes=2)
    write(tmp_path, e="circuits:\n  probes: 3\n  open_ms: 1000\n  good_probes: no\n", f="circuits:\n  open_ms: ~\n")
    assert problems_of(tmp_path) == [
        "e.yaml:2: circuits.probes: 3 here, 2 in c.yaml:2; a catalogue has one: keep one",
        'e.yaml:4: circuits.good_probes: "no" makes no sense; use a whole number from 1 to 100',
        "f.yaml:2: circuits.open_ms: ~ here, 1000 in b.yaml:1; a catalogue has one: keep one",
    ]


def test_thresholds_that_two_files_contradict_each_other_in(tmp_path: Path) -> None:
    write(tmp_path, a=WHOLE + "circuits:\n  open_ms: 5000\n", b="circuits:\n  open_max_ms: 4000\n")
    assert problems_of(tmp_path) == [
        "b.yaml:2: circuits.open_max_ms: 4000 is less than open_ms, which is 5000; use at least 5000"
    ]


# A change of the file → whether it is another version.
CHANGES = {
    "": False,
    "workloads: []\n": False,
    "circuits: {}\n": False,
    f"circuits: {{failures_in_row: {Thresholds().failures_in_row}}}\n": False,
    "circuits: {failures_in_row: 99}\n": True,
    "workloads: [{name: a, version: 1}]\n": True,
}


@pytest.mark.parametrize("added", CHANGES)
def test_what_is_not_there_has_no_part_in_the_version(tmp_path: Path, added: str) -> None:
    before = "c4de1f5157c57c71f4cde8b9de82d441"  # as long as there were no workloads and no thresholds
    assert (load(write(tmp_path, a=WHOLE + added)).version() != before) is CHANGES[added]


def test_every_need_has_a_part_in_the_version(tmp_path: Path) -> None:
    texts = ["", ", version: 2", ", input_tokens: 0", ", requires_tools: false", ", task: general", ", schema_id: s"]
    versions = set()
    for text in texts:
        level = ", structured_output: strict" if "schema" in text else ""
        base = "{name: a" + ("" if "version" in text else ", version: 1")
        versions.add(load(write(tmp_path, a=WHOLE + f"workloads: [{base}{text}{level}}}]\n")).version())
    assert len(versions) == len(texts)


async def test_an_archive_and_a_load_aside_keep_them(tmp_path: Path) -> None:
    content = load(write(tmp_path, a=WHOLE + TWO + "circuits: {probes: 4}\n"))
    assert unpack(pack(content)) == content
    loaded = await load_aside(tmp_path, NOW, hurried=True)
    assert loaded is not None
    assert await load_aside(tmp_path, NOW, serving=loaded.snapshot.version) is None
    assert loaded.snapshot.content == content
    assert loaded.snapshot.version == content.version()
    assert loaded.snapshot.workloads.find("a") == content.workloads[1]


def test_a_name_means_the_newest_version(tmp_path: Path) -> None:
    workloads = Snapshot.of(load(write(tmp_path, a=WHOLE + TWO)), 0).workloads
    found = {named: workloads.find(named) for named in ("a", "a@2", "a@10", "b", "c", "a@3", "a@02")}
    labels = {named: one.label if one else None for named, one in found.items()}
    assert labels == {"a": "a@10", "a@2": "a@2", "a@10": "a@10", "b": "b@1", "c": None, "a@3": None, "a@02": None}


def test_the_same_request_becomes_the_same_object_and_memory_is_bounded() -> None:
    one = Workload.read({"name": "w", "version": "1", "output_tokens": 9})
    workloads, index = Workloads([one]), Index([endpoint("m@a")])
    first = workloads.joined("w", Stated(input_tokens=0), index)
    assert workloads.joined("w", Stated(input_tokens=0), index) is first
    assert workloads.joined("w@2", Stated(input_tokens=0), index) is None
    long = tuple(f"e{number}" for number in range(100))
    workloads.joined("w", Stated(exclude_endpoints=long), index)
    assert len(workloads._joined) == 1
    for number in range(REMEMBERED + 9):
        workloads.joined("w", Stated(input_tokens=number), index)
    assert REMEMBERED * 0.9 < len(workloads._joined) <= REMEMBERED


# A workload of test_check's catalogue → why nothing can serve it, or nothing.
IDLE = {
    "input_tokens: 5": None,
    "max_cost: 0": None,
    "residency: eu-owned": None,
    "max_price: 1": "1 not_a_text_model, 2 price_above_ceiling",
    "regions: [FR]": "3 region_outside_residency",
    "requires_tools: true": "1 not_a_text_model, 2 tools_unsupported",
}


@pytest.mark.parametrize("keys", IDLE)
def test_a_workload_that_nothing_can_serve(tmp_path: Path, keys: str) -> None:
    report = check(write(tmp_path, a=CATALOG + f"workloads:\n- {{name: w, version: 1, {keys}}}\n"), NOW)
    why = (
        f"a.yaml:13: workloads[w@1]: no endpoint can serve it under any policy: under all, the widest, {IDLE[keys]}; "
        "ask for less, or list an endpoint that can serve it"
    )
    assert shown(report.warnings, tmp_path) == ([why] if IDLE[keys] else [])
