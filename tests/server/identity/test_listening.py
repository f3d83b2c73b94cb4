"""Where a server may listen in plain, and what an address needs that may not be."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from router_service.cli import main
from router_service.server.listen import MTLS, PLAIN, TLS, Address, AddressError, parse_addresses
from tests.server.identity.certificates import Authority

AUTHORITY = Authority()


@pytest.mark.parametrize(
    ("text", "offers", "security"),
    [
        ("127.0.0.1:1", PLAIN, PLAIN),
        ("127.0.0.1:1", TLS, TLS),
        ("127.0.0.1:1", MTLS, MTLS),
        ("0.0.0.0:1", TLS, TLS),
        ("plain:127.0.0.1:1", MTLS, PLAIN),
        ("tls:0.0.0.0:1", MTLS, TLS),
        ("mtls:[::]:1", MTLS, MTLS),
        ("unix:/run/router.sock", MTLS, PLAIN),
        ("plain:unix:/run/router.sock", MTLS, PLAIN),
        ("plain:[::1]:1", PLAIN, PLAIN),
    ],
)
def test_an_address_is_spoken_to_by_what_it_says_or_the_best_there_is(text: str, offers: str, security: str) -> None:
    [address] = parse_addresses((text,), insecure=False, offers=offers)
    assert (address.security, address.text) == (security, text)


@pytest.mark.parametrize(
    ("text", "offers", "said"),
    [
        ("0.0.0.0:1", PLAIN, "give --tls-cert and --tls-key, listen on 127.0.0.1, or say --insecure"),
        ("plain:0.0.0.0:1", MTLS, "plain gRPC beyond loopback and Unix sockets shows every request to the network"),
        ("router.internal:1", PLAIN, "plain gRPC beyond loopback"),
        ("tls:127.0.0.1:1", PLAIN, "TLS needs a certificate and its key; give --tls-cert and --tls-key"),
        ("mtls:127.0.0.1:1", TLS, "clients' certificates need their CAs; give --tls-client-ca"),
        ("tls:unix:/run/router.sock", TLS, "a Unix socket is plain; write unix:/run/router.sock"),
    ],
)
def test_what_may_not_be_is_told_with_its_cure(text: str, offers: str, said: str) -> None:
    with pytest.raises(AddressError, match=f"^{text.replace('[', '.').replace(']', '.')}: ") as caught:
        parse_addresses((text,), insecure=False, offers=offers)
    assert said in str(caught.value)


def test_what_is_said_out_loud_may_be() -> None:
    [address] = parse_addresses(("plain:0.0.0.0:1",), insecure=True, offers=MTLS)
    assert address == Address("plain:0.0.0.0:1", None, "0.0.0.0", 1, PLAIN)  # noqa: S104 - nobody listens there


def serve(*flags: str) -> Result:
    """A start that must fail."""
    done = CliRunner().invoke(main, ["serve", "--store", "none", "--listen", "127.0.0.1:0", *flags])
    assert done.exit_code == 2, done.output
    return done


def test_a_server_does_not_begin_with_what_is_wrong(tmp_path: Path) -> None:
    cert, key = map(str, AUTHORITY.issue("localhost").write(tmp_path))
    callers = tmp_path / "callers.yaml"
    callers.write_text("callers:\n- {caller: a, roles: [decid], policies: [p]}\n- {roles: [read]}\n")
    assert "give --tls-cert and --tls-key" in serve("--tls-cert", cert).stderr
    assert "give --tls-cert and --tls-key" in serve("--tls-client-ca", cert).stderr
    told = serve("--callers", str(callers)).stderr
    assert f"{callers}:2: callers[a].roles[0]: unknown word" in told
    assert f"{callers}:3: callers[1].caller: missing" in told
    (tmp_path / "server.key").write_bytes(AUTHORITY.issue("x").key)
    assert "the key is not that of the certificate" in serve("--tls-cert", cert, "--tls-key", key).stderr
    folder = tmp_path / "folder"
    folder.mkdir()
    assert "No such file or directory" in serve("--audit-log", str(folder / "none" / "audit.log")).stderr


def test_the_role_of_local_callers_is_for_servers_without_callers(tmp_path: Path) -> None:
    callers = tmp_path / "callers.yaml"
    callers.write_text("callers:\n- {caller: a, roles: [read], policies: [p]}\n")
    assert "give a caller the role admin instead" in serve("--local-admin", "--callers", str(callers)).stderr
