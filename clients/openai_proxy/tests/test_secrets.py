"""Credentials and keys by reference: read again when they change, kept when they go bad, and never shown."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import pytest

from router_openai_proxy.keys import BadKeys, Keys, read_keys
from router_openai_proxy.secret import BadSecret, SecretFile, read_environment, read_secret


def hashed(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def replaced(path: Path, text: str) -> None:
    """As editors and mounted secrets do it: another file in its place."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("  one\n")
    secret = SecretFile(path)
    assert secret.value() == "one"
    replaced(path, "two")
    assert secret.value() == "two"


def test_links_are_followed_as_secrets_are_mounted_by_them(tmp_path: Path) -> None:
    for version in ("v1", "v2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "key").write_text(version)
    link = tmp_path / "current"
    link.symlink_to("v1")
    secret = SecretFile(link / "key")
    assert secret.value() == "v1"
    (tmp_path / "next").symlink_to("v2")
    (tmp_path / "next").replace(link)
    assert secret.value() == "v2"


@pytest.mark.parametrize("bad", ["", "two\nlines", "ключ"])
def test_what_cannot_be_used_leaves_the_last_one_and_is_logged_without_it(
    bad: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "secret"
    path.write_text("the-last")
    secret = SecretFile(path)
    with caplog.at_level(logging.WARNING):
        replaced(path, bad)
        assert [secret.value(), secret.value()] == ["the-last", "the-last"]
        path.unlink()
        assert secret.value() == "the-last"
    assert len(caplog.records) == 2  # once for each change
    assert "the-last" not in caplog.text
    assert str(path) in caplog.text
    assert not bad or bad not in caplog.text
    replaced(path, "new")
    assert secret.value() == "new"


def test_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPTY", "")
    with pytest.raises(BadSecret, match="the environment variable EMPTY is not there or empty"):
        read_environment("EMPTY")
    (tmp_path / "binary").write_bytes(b"\xff\xfe secret")
    with pytest.raises(BadSecret, match="it is not text") as caught:
        read_secret(tmp_path / "binary")
    assert caught.value.__cause__ is None  # the decoder's own words quote what it met
    assert caught.value.__suppress_context__
    with pytest.raises(BadSecret, match="No such file"):
        SecretFile(tmp_path / "none")


def test_keys_name_callers(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(f"# keys\n\n{hashed('k1')} team-a\n{hashed('k2').upper()}  *team-a\n{hashed('k3')} team b\n")
    keys = Keys(path)
    assert [keys.caller(one) for one in ("k1", "k2", "k3", "k4", "", "k\udce4")] == [
        "team-a", "team-a", "team b", None, None, None,
    ]  # fmt: skip
    replaced(path, f"{hashed('k4')} team-d")
    assert [keys.caller(one) for one in ("k1", "k4")] == [None, "team-d"]


def test_bad_keys_leave_the_last_ones_in_force(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "keys"
    path.write_text(f"{hashed('k1')} team-a")
    keys = Keys(path)
    with caplog.at_level(logging.WARNING):
        replaced(path, "k1 team-a")
        assert keys.caller("k1") == "team-a"
        path.unlink()
        assert keys.caller("k1") == "team-a"
    assert "line 1 is not a SHA-256" in caplog.text
    (tmp_path / "empty").write_text("# none\n")
    with pytest.raises(BadKeys, match="there is no key in it"):
        read_keys(tmp_path / "empty")
