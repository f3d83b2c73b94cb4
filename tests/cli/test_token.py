"""`router-service token`: a token on standard output alone, and what the callers file keeps of it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from router_service.callers.load import load
from router_service.cli import main

CALLERS = "callers:\n- {caller: gateway, roles: [decide], policies: [eu]}\ntokens:\n"


def token(*arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(main, ["token", *arguments], input=given)


def test_the_entry_knows_the_token_and_does_not_hold_it(tmp_path: Path) -> None:
    done = token("gateway", "--expires-at", "2027-01-31")
    made = done.stdout.strip()
    assert done.exit_code == 0
    assert len(made) == 46
    assert made.startswith("rs_")
    assert made not in done.stderr
    (tmp_path / "callers.yaml").write_text(CALLERS + done.stderr)
    [known] = load(tmp_path / "callers.yaml").callers.by_token.values()
    assert known.digest == hashlib.sha256(made.encode()).digest()
    assert (known.caller.caller, known.expires_at) == ("gateway", 1_801_353_600_000)
    assert token("gateway").stdout.strip() != made


def test_one_that_there_is_already_gets_its_entry(tmp_path: Path) -> None:
    made = token("gateway")
    (tmp_path / "token").write_text(made.stdout)
    for done in (
        token("gateway", "--of-file", str(tmp_path / "token")),
        token("gateway", "--of-file", "-", given=made.stdout),
    ):
        assert (done.exit_code, done.stdout, done.stderr) == (0, made.stderr, "")


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        (("a b",), "", 'CALLER: "a b" is malformed'),
        (("",), "", "CALLER: empty"),
        (("a", "--expires-at", "soon"), "", '--expires-at: "soon" is no instant'),
        (("a", "--of-file", "-"), "short", "a token of 5 characters could be guessed"),
        (("a", "--of-file", "-"), "two tokens in one line of text", "it holds no token"),
        (("a", "--of-file", "-"), "", "it holds no token"),
        (("a", "--of-file", "/nonexistent/file"), "", "No such file"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_cure(arguments: tuple[str, ...], given: str, said: str) -> None:
    done = token(*arguments, given=given)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not done.stdout
