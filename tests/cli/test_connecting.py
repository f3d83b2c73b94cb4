"""Verbs that ask a server over TLS: with a token, with a certificate, and never with a secret in the open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from router_service.cli import main
from router_service.wire.credentials import Credentials, Unprotected, is_local
from tests.callers.files import token_of
from tests.server.identity.conftest import Known, known_server
from tests.server.identity.secured import AUTHORITY, EVERYBODY


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    folder = tmp_path_factory.mktemp("known")
    with known_server(folder) as server:
        for caller in (EVERYBODY, "decide", "stranger"):
            (folder / f"{caller}.token").write_text(token_of(caller) + "\n")
            AUTHORITY.issue(f"{caller}.internal").write(folder, caller)
        yield server


def run(*arguments: str | Path, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)], env=env)


def by_token(known: Known, caller: str) -> tuple[str | Path, ...]:
    return (
        "--server",
        known.target,
        "--tls-ca",
        known.folder / "ca.pem",
        "--token-file",
        known.folder / f"{caller}.token",
    )


def by_certificate(known: Known, caller: str) -> tuple[str | Path, ...]:
    mine = "--tls-cert", known.folder / f"{caller}.pem", "--tls-key", known.folder / f"{caller}.key"
    return "--server", known.mutual, "--tls-ca", known.folder / "ca.pem", *mine


@pytest.mark.parametrize("shown", [by_token, by_certificate])
def test_every_verb_shows_what_it_is_given(known: Known, shown: object) -> None:
    flags = shown(known, EVERYBODY)  # type: ignore[operator]
    decided = run("decide", *flags, "--input-tokens", "10", "--output-tokens", "10", "--output", "json")
    assert decided.exit_code == 0, decided.output
    trace_id = json.loads(decided.output)["decision"]["trace_id"]
    assert json.loads(run("trace", "show", trace_id, *flags, "--output", "json").output)["caller"] == EVERYBODY
    for verb in (("explain",), ("trace", "list"), ("trace", "export"), ("trace", "explain", trace_id), ("health",)):
        assert run(*verb, *flags).exit_code == 0, verb


def test_who_is_not_let_in_is_told_why(known: Known) -> None:
    for shown in (by_token, by_certificate):
        done = run("decide", *shown(known, "stranger"))
        assert (done.exit_code, "UNAUTHENTICATED: no caller has this" in done.output) == (2, True)
    done = run("trace", "list", *by_token(known, "decide"))
    assert done.exit_code == 2
    assert "the call needs the role read; the callers file gives decide other roles" in done.output
    everybody = run("trace", "list", "--server", known.target, "--tls-ca", known.folder / "ca.pem")
    assert "the call brings no credential" in everybody.output
    health = run("health", "--server", known.target, "--tls-ca", known.folder / "ca.pem")
    assert (health.exit_code, health.output) == (0, "SERVING\n")


def test_a_server_that_is_not_trusted_is_not_told_anything(known: Known) -> None:
    done = run(
        "decide", "--server", f"tls:{known.target}", "--token-file", known.folder / "decide.token", "--timeout", "5"
    )
    assert done.exit_code == 3
    assert token_of("decide") not in done.output


def test_flags_may_come_from_the_environment(known: Known) -> None:
    env = {
        "ROUTER_SERVICE_SERVER": known.target,
        "ROUTER_SERVICE_CLIENT_TLS_CA": str(known.folder / "ca.pem"),
        "ROUTER_SERVICE_TOKEN_FILE": str(known.folder / "decide.token"),
        "ROUTER_SERVICE_TLS_CERT": "the server's own, which no client shows",
    }
    assert run("decide", "--input-tokens", "1", "--output-tokens", "1", env=env).exit_code == 0


def test_what_cannot_be_shown_is_told_all_at_once(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("two tokens")
    (tmp_path / "none.pem").write_text("nothing")
    done = run(
        "decide",
        "--server",
        "tls:127.0.0.1:1",
        "--token-file",
        secret,
        "--tls-ca",
        tmp_path / "none.pem",
        "--tls-cert",
        tmp_path / "gone.pem",
    )
    assert done.exit_code == 2
    assert "give both --tls-cert and --tls-key" in done.output
    assert f"{secret}: holds no token" in done.output
    assert f"{tmp_path}/none.pem: holds no PEM" in done.output
    assert f"{tmp_path}/gone.pem: cannot be read: No such file or directory" in done.output
    assert "two tokens" not in done.output


def test_a_token_is_not_sent_over_a_plain_connection_to_another_machine(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(token_of("decide"))
    for verb in (("decide",), ("trace", "list")):
        done = run(*verb, "--server", "router.example:50051", "--token-file", tmp_path / "token")
        assert done.exit_code == 2
        assert "ask tls:router.example:50051" in done.output
        assert token_of("decide") not in done.output


@pytest.mark.parametrize(
    ("target", "local"),
    [
        ("127.0.0.1:1", True),
        ("127.9.9.9:1", True),
        ("[::1]:1", True),
        ("localhost:1", True),
        ("unix:/run/x", True),
        ("10.0.0.1:1", False),
        ("localhost.example:1", False),
        ("dns:///localhost:1", False),
        ("[::]:1", False),
    ],
)
def test_only_this_machine_is_local(target: str, local: bool) -> None:
    assert is_local(target) is local
    if not local:
        with pytest.raises(Unprotected):
            Credentials(token="x").channel(target, [])  # noqa: S106
        Credentials(token="x", insecure=True).channel(target, []).close()  # noqa: S106


def test_a_secret_is_not_in_what_is_printed_of_credentials() -> None:
    shown = repr(Credentials(token="very-secret", key=b"very-secret"))  # noqa: S106
    assert "very-secret" not in shown


@pytest.mark.parametrize(
    ("listen", "cert", "asked"),
    [
        ("", "", "127.0.0.1:50051"),
        ("", "cert.pem", "tls:127.0.0.1:50051"),
        ("0.0.0.0:1", "", "0.0.0.0:1"),
        ("0.0.0.0:1 plain:127.0.0.1:2", "cert.pem", "plain:127.0.0.1:2"),
        ("tls:0.0.0.0:1 unix:/run/x", "cert.pem", "unix:/run/x"),
        ("mtls:0.0.0.0:1", "cert.pem", "mtls:0.0.0.0:1"),
    ],
)
def test_a_probe_asks_where_it_needs_no_certificate(
    monkeypatch: pytest.MonkeyPatch, listen: str, cert: str, asked: str
) -> None:
    from router_service.cli.health import _own_server  # noqa: PLC0415

    monkeypatch.setenv("ROUTER_SERVICE_LISTEN", listen)
    monkeypatch.setenv("ROUTER_SERVICE_TLS_CERT", cert)
    assert _own_server() == asked
