"""Files of a catalogue: folders, overlays, ConfigMaps, and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

from router_service.catalog.load import load
from tests.catalog.yaml_files import WHOLE, around, problems_of, write

IMPORTED = """currency: EUR
models:
- model: m
  context_window: 1000
  tags: [coding, rag]
  aliases: [x]
endpoints:
- endpoint_id: e
  model: m
  input_price: 1
  output_price: 2
  country: DE
  sovereignty: eu-owned
"""
POLICIES = "policies: [{policy_id: p}]\n"


def test_a_later_file_overlays_key_by_key(tmp_path: Path) -> None:
    own = "models: [{model: M, tags: [chat]}]\nendpoints: [{endpoint_id: e, output_price: 3, input_price: ~}]\n"
    endpoint = load(write(tmp_path, a=IMPORTED, b=own, c=POLICIES)).endpoints[0]
    assert (endpoint.context_window, endpoint.tags, endpoint.aliases) == (1000, ("chat",), ("x",))
    assert (endpoint.input_price, endpoint.output_price, endpoint.country) == (None, 3_000_000, "DE")


def test_the_last_file_by_name_wins(tmp_path: Path) -> None:
    status = "endpoints: [{{endpoint_id: e, status: {}}}]"
    write(tmp_path, c=status.format("down"), b=status.format("degraded"), a=IMPORTED + POLICIES)
    assert load(tmp_path).endpoints[0].status == "down"


def test_a_model_s_overlay_does_not_reach_what_an_endpoint_states(tmp_path: Path) -> None:
    write(tmp_path, a=IMPORTED + POLICIES, b="models: [{model: m, input_price: 9, parameters_b: 7}]")
    endpoint = load(tmp_path).endpoints[0]
    assert (endpoint.input_price, endpoint.parameters_b) == (1_000_000, 7.0)


def test_an_overlay_may_cure_what_an_import_brought(tmp_path: Path) -> None:
    imported = IMPORTED.replace("input_price: 1\n", "input_price: 1.2345678\n")
    assert problems_of(write(tmp_path, a=imported, c=POLICIES)) == [
        "a.yaml:10: endpoints[e].input_price: 1.2345678 has more than six places; round it to six places"
    ]
    write(tmp_path, b="endpoints: [{endpoint_id: e, input_price: 1.234568}]")
    assert load(tmp_path).endpoints[0].input_price == 1_234_568


def test_a_problem_points_at_the_file_that_wrote_the_value(tmp_path: Path) -> None:
    own = "endpoints:\n- endpoint_id: e\n  tags:\n  - ok\n  - ''\n  status: gone\n"
    assert problems_of(write(tmp_path, a=IMPORTED, b=own, c=POLICIES)) == [
        "b.yaml:5: endpoints[e].tags[1]: empty entry; remove it or fill it in",
        'b.yaml:6: endpoints[e].status: unknown word "gone"; use one of up, degraded, down, maintenance, unknown',
    ]


def test_a_contradiction_of_two_files_points_at_the_class(tmp_path: Path) -> None:
    own = "endpoints:\n- endpoint_id: e\n  country: US\n"
    assert [one.split(" with ")[0] for one in problems_of(write(tmp_path, a=IMPORTED, b=own, c=POLICIES))] == [
        "a.yaml:13: endpoints[e].sovereignty: class eu-owned"
    ]


def test_an_overlay_of_nothing_says_so(tmp_path: Path) -> None:
    own = "endpoints:\n- endpoint_id: gone\n  status: down\n"
    assert problems_of(write(tmp_path, a=IMPORTED, b=own, c=POLICIES)) == [
        (
            "b.yaml:2: endpoints[gone].model: missing; "
            "name its model; to overlay an endpoint of an earlier file, repeat its endpoint_id"
        )
    ]


def test_unknown_keys_are_reported_in_every_layer(tmp_path: Path) -> None:
    write(tmp_path, a=IMPORTED + "  colour: red\n", b="endpoints: [{endpoint_id: e, flavour: x}]", c=POLICIES)
    found = [one.split(";")[0] for one in problems_of(tmp_path)]
    assert found == ["a.yaml:14: endpoints[e].colour: unknown field", "b.yaml:1: endpoints[e].flavour: unknown field"]


def test_policies_are_not_overlaid(tmp_path: Path) -> None:
    assert problems_of(write(tmp_path, a=WHOLE, b="\npolicies: [{policy_id: p, retention: 1d}]")) == [
        "b.yaml:2: policies[p].policy_id: defined twice, the first time in FOLDER/a.yaml:4; "
        "join the two, or give one another name".replace("FOLDER/", "")
    ]


def test_files_must_agree_on_what_there_is_one_of(tmp_path: Path) -> None:
    first = "default_policy: p\n" + WHOLE
    assert problems_of(
        write(tmp_path, a=first, b="currency: USD\ndefault_policy: q\npolicies: [{policy_id: q}]\n")
    ) == [
        'b.yaml:1: currency: "USD" here, "EUR" in a.yaml:2; a catalogue has one: keep one',
        'b.yaml:2: default_policy: "q" here, "p" in a.yaml:1; a catalogue has one: keep one',
    ]


def test_files_may_repeat_a_setting_and_add_pool_names(tmp_path: Path) -> None:
    write(tmp_path, a=around("pool_names: [x]"), b="currency: eur\npool_names: [X, y]\n")
    assert load(tmp_path).pool_names == ("x", "y")


def test_aliases_clash_across_files(tmp_path: Path) -> None:
    write(tmp_path, a=IMPORTED + POLICIES, b="models:\n- model: n\n  aliases: [x]\n")
    assert problems_of(tmp_path) == [
        (
            'b.yaml:3: models[n].aliases[0]: "x" is an alias of m too (a.yaml:6); '
            "an id must mean one model: keep it in one place"
        )
    ]


def test_only_yaml_files_of_the_folder_itself_are_read(tmp_path: Path) -> None:
    write(tmp_path, a=WHOLE)
    (tmp_path / "b.YML").write_text("endpoints: [{endpoint_id: e, status: down}]")
    for name in (".hidden.yaml", "notes.txt", "b.yaml~", "yaml"):
        (tmp_path / name).write_text("]")
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", a="]")
    assert load(tmp_path).endpoints[0].status == "down"


def test_a_mounted_configmap_is_read_once_and_follows_its_links(tmp_path: Path) -> None:
    def mount(version: str, **files: str) -> None:
        (tmp_path / version).mkdir()
        write(tmp_path / version, **files)
        (tmp_path / "..data_tmp").symlink_to(version)
        (tmp_path / "..data_tmp").rename(tmp_path / "..data")
        for name in files:
            if not (tmp_path / f"{name}.yaml").is_symlink():
                (tmp_path / f"{name}.yaml").symlink_to(f"..data/{name}.yaml")

    mount("..2026_01_01", a=IMPORTED, c=POLICIES)
    assert load(tmp_path).endpoints[0].output_price == 2_000_000
    mount("..2026_01_02", a=IMPORTED.replace("output_price: 2", "output_price: 4"), c=POLICIES)
    assert load(tmp_path).endpoints[0].output_price == 4_000_000


def test_an_empty_folder(tmp_path: Path) -> None:
    assert problems_of(tmp_path) == ["FOLDER: no *.yaml or *.yml file in this folder; put the catalogue's files there"]


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    assert problems_of(tmp_path / "none.yaml", tmp_path) == [
        "none.yaml: cannot be read: No such file or directory; make it readable"
    ]


def test_what_cannot_be_read_does_not_hide_the_rest(tmp_path: Path) -> None:
    write(tmp_path, a="models: [{model: m, tools: 1}]")
    (tmp_path / "b.yaml").symlink_to("gone.yaml")
    (tmp_path / "c.yaml").mkdir()
    os.mkfifo(tmp_path / "d.yaml")
    (tmp_path / "e.yaml").symlink_to("e.yaml")
    (tmp_path / "f.yaml").write_bytes(b"")
    assert problems_of(tmp_path) == [
        "b.yaml: cannot be read: No such file or directory; make it readable",
        "c.yaml: not a file; remove it, or give it another name",
        "d.yaml: not a file; remove it, or give it another name",
        "e.yaml: cannot be read: Too many levels of symbolic links; make it readable",
        'a.yaml:1: models[m].tools: "1" is neither true nor false; write true or false',
        "f.yaml:1: empty file; write a catalogue, or remove the file",
    ]
