"""Load: files of callers become who may call, or every problem of every file at once, and never a secret."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from router_service.callers.load import CallersInvalid, load
from router_service.domain.caller import ADMIN, DECIDE, FIELDS, READ, REPORT
from tests.callers.files import EXAMPLE, written

_2027_01_31 = 1_801_353_600_000
SECRET = "rs_oKbKFb2BuZ4Z0GwM8dA6joI9DRZteM9VaCNSXehnGuA"  # noqa: S105 - of no caller


def problems(path: Path) -> list[str]:
    """What is wrong, each line without the folder."""
    with pytest.raises(CallersInvalid) as caught:
        load(path)
    folder = path if path.is_dir() else path.parent
    return [str(one).replace(f"{folder}/", "") for one in caught.value.problems]


def test_every_key_is_read(tmp_path: Path) -> None:
    callers = load(written(tmp_path, EXAMPLE)).callers
    gateway, auditor, ops = (callers.by_id[one] for one in ("gateway", "auditor", "ops@example.com"))
    assert gateway.roles == {DECIDE, REPORT}
    assert (gateway.policies, gateway.default_policy, gateway.workloads) == (
        frozenset(("eu", "strict")),
        "strict",
        frozenset(("chat",)),
    )
    assert (gateway.reports_for, auditor.reports_for) == (frozenset(("auditor",)), frozenset())
    assert (auditor.roles, auditor.policies, auditor.workloads, auditor.stateless) == (
        frozenset((READ,)),
        None,
        None,
        False,
    )
    assert (ops.roles, ops.stateless) == (frozenset((ADMIN, READ)), True)
    assert callers.by_san == {b"gateway.internal": gateway, b"spiffe://prod/gateway": gateway}
    assert [(one.digest.hex()[:4], one.caller, one.expires_at) for one in callers.by_token.values()] == [
        ("9f86", auditor, _2027_01_31),
        ("6030", auditor, None),
    ]
    assert all(f"{name}:" in EXAMPLE for name in FIELDS)


def test_what_is_the_callers_own(tmp_path: Path) -> None:
    callers = load(written(tmp_path, EXAMPLE)).callers.by_id
    assert [callers["gateway"].may_use(one) for one in ("eu", "strict", "world", "")] == [True, True, False, False]
    assert callers["auditor"].may_use("anything")
    assert [callers["gateway"].may_name(one) for one in ("chat", "chat@1", "invoices", "chats@1")] == [
        True,
        True,
        False,
        False,
    ]
    assert callers["auditor"].may_name("invoices@2")


def test_every_problem_of_every_file_is_told_at_once(tmp_path: Path) -> None:
    written(
        tmp_path,
        """\
callers:
- {caller: gateway, sans: [gateway.internal], roles: [decide, report], policies: [eu, strict], reports_for: [gatway]}
- {caller: ops, roles: [admn], policies: ["*", eu]}
- {caller: local, roles: [], policies: []}
- {caller: "a b", roles: [read], policies: [eu], role: read}
""",
        "a.yaml",
    )
    written(
        tmp_path,
        f"""\
callers:
- {{caller: other, sans: [gateway.internal], roles: [decide], policies: [eu], default_policy: strict}}
- {{roles: [decide], policies: [eu]}}
tokens:
- {{sha256: {"a" * 64}, caller: gateway}}
- {{sha256: {"A" * 64}, caller: other}}
- {{sha256: {SECRET}, caller: gateway}}
- {{sha256: {"b" * 64}, caller: gatway, expires_at: soon}}
- {{token: {SECRET}, caller: gateway}}
tokns: []
""",
        "b.yaml",
    )
    expected = (Path(__file__).parent / "problems.txt").read_text().replace("AAAA", "a" * 64).replace("BBBB", "b" * 64)
    assert problems(tmp_path) == expected.splitlines()


def test_a_token_written_by_mistake_is_shown_nowhere(tmp_path: Path) -> None:
    wrong = "callers: [{caller: a, roles: [read], policies: [p]}]\n"
    wrong += f"tokens: [{{sha256: {SECRET}, caller: a}}, {{sha256: a, token: {SECRET}, caller: a}}]\n"
    assert SECRET not in "\n".join(problems(written(tmp_path, wrong)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "callers.yaml:1: empty file; write a callers file, or remove the file"),
        ("- a", "callers.yaml:1: not a mapping; start with a key such as callers:"),
        ("callers: []", ".: callers: none; list at least one: nobody could call"),
        ("callers: 5", "callers.yaml:1: callers: not a list; write a list of entries such as - caller: …"),
        ("callers: [", "callers.yaml:2: not YAML"),
    ],
)
def test_what_is_no_callers_file_says_what_to_write(tmp_path: Path, text: str, said: str) -> None:
    found = problems(written(tmp_path, text))
    assert said.removeprefix(".: ") in found[0] if said.startswith(".: ") else found[0].startswith(said)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert problems(tmp_path / "nowhere.yaml") == [
        "nowhere.yaml: cannot be read: No such file or directory; make it readable"
    ]
    assert "put the files of callers there" in problems(tmp_path)[0]


def test_a_later_file_of_a_folder_overlays_an_earlier_one(tmp_path: Path) -> None:
    """So that whoever keeps the tokens need not keep the roles."""
    written(tmp_path, EXAMPLE, "callers.yaml")
    written(
        tmp_path,
        f"callers:\n- {{caller: gateway, roles: [decide]}}\ntokens:\n- {{sha256: {'c' * 64}, caller: gateway}}\n",
        "tokens.yml",
    )
    callers = load(tmp_path).callers
    assert callers.by_id["gateway"].roles == {DECIDE}
    assert callers.by_id["gateway"].policies == frozenset(("eu", "strict"))
    assert callers.by_token[bytes.fromhex("c" * 64)].caller == callers.by_id["gateway"]


_LINES = st.lists(
    st.sampled_from([*EXAMPLE.splitlines(), "callers:", "tokens:", "- {caller: [a]}", "- {caller: {a: b}}", "x"])
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(_LINES, st.integers(0, 500))
def test_nothing_that_a_file_holds_is_a_fault(tmp_path: Path, lines: list[str], cut: int) -> None:
    path = written(tmp_path, "\n".join(lines)[cut:])
    told: Sequence[object] = ()
    try:
        told = tuple(load(path).callers.by_id)
    except CallersInvalid as invalid:
        told = invalid.problems
    assert told
