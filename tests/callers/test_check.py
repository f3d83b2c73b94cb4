"""`check --callers`: callers beside the catalogue that they name, in one run, with file, line and cure."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from router_service.cli import main
from tests.callers.files import entry, written
from tests.server.conftest import CATALOG

CALLERS = """\
callers:
- {caller: gateway, sans: [gateway.internal], roles: [decide], policies: [eu, world]}
"""


def checked(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, arguments)])


def test_what_fits_is_told_with_its_numbers(tmp_path: Path) -> None:
    catalog, callers = written(tmp_path, CATALOG, "catalog.yaml"), written(tmp_path, CALLERS)
    done = checked(catalog, "--callers", callers)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1].endswith("; 1 caller, 0 tokens")
    assert checked("--callers", callers).output == "0 problems, 0 warnings; 1 caller, 0 tokens\n"


def test_what_callers_name_must_be_in_the_catalogue(tmp_path: Path) -> None:
    catalog = written(tmp_path, CATALOG, "catalog.yaml")
    text = CALLERS.replace("[eu, world]", "[eu, wrld], workloads: [chat]")
    done = checked(catalog, "--callers", written(tmp_path, text))
    assert done.exit_code == 2
    where = f"{tmp_path}/callers.yaml:2: callers[gateway]"
    assert f'error {where}.policies[1]: the catalogue has no "wrld"; did you mean world?' in done.output
    cure = "name what the catalogue has, or add it there"
    assert f'error {where}.workloads[0]: the catalogue has no "chat"; {cure}' in done.output


def test_problems_of_both_are_told_in_one_run(tmp_path: Path) -> None:
    catalog = written(tmp_path, CATALOG.replace("default_policy: eu", "default_policy: e"), "catalog.yaml")
    done = checked(catalog, "--callers", written(tmp_path, CALLERS.replace("decide", "decides")))
    assert done.exit_code == 2
    assert "default_policy" in done.output
    assert "roles[0]" in done.output
    assert "2 problems" in done.output


def test_what_can_hardly_be_meant_is_a_warning(tmp_path: Path) -> None:
    text = CALLERS.replace("world", "eu") + "- {caller: idle, roles: [read], policies: [eu]}\n"
    text += "- {caller: late, roles: [read], policies: [eu]}\ntokens:\n" + entry("late", expires_at="2020-01-01")
    catalog, callers = written(tmp_path, CATALOG, "catalog.yaml"), written(tmp_path, text)
    done = checked(catalog, "--callers", callers)
    assert done.exit_code == 0
    said = done.output.replace(f"{tmp_path}/", "")
    assert "warning callers.yaml:3: callers[idle]: nobody can call as it: it has no credential" in said
    assert "warning callers.yaml:4: callers[late]: nobody can call as it" in said
    assert "].expires_at: the token has expired; remove the entry, or give a new token" in said
    assert 'warning callers.yaml: policies: no caller may name the policy "world"' in said
    assert checked(catalog, "--callers", callers, "--strict").exit_code == 2


def test_nothing_to_check_is_told() -> None:
    done = checked()
    assert done.exit_code == 2
    assert "give the PATH of a catalogue, --callers, or both" in done.output
