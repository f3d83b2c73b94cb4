"""The server's certificate and its key: tried before they serve, and what is wrong with them told with its cure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from router_service.server.identity.tls import Certificates, TlsInvalid, TlsPaths, read_tls
from tests.server.identity.certificates import Authority

AUTHORITY = Authority()


def paths(folder: Path) -> TlsPaths:
    """Good files."""
    return TlsPaths(*AUTHORITY.issue("router.internal").write(folder), AUTHORITY.write(folder))


def test_what_is_good_is_read_with_its_end(tmp_path: Path) -> None:
    issued = AUTHORITY.issue("router.internal", days=7)
    cert, key = issued.write(tmp_path)
    tls = read_tls(TlsPaths(cert, key, AUTHORITY.write(tmp_path)))
    assert (tls.cert, tls.key, tls.client_ca) == (issued.cert, issued.key, AUTHORITY.pem)
    assert abs(tls.expires_at_s - issued.expires_at_s) <= 1
    assert read_tls(TlsPaths(cert, key)).client_ca is None


def _encrypted(one: TlsPaths) -> None:
    key = serialization.load_pem_private_key(one.key.read_bytes(), None)
    secret = serialization.BestAvailableEncryption(b"secret")
    one.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret))


def _rest_cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


PROBLEMS: dict[str, tuple[Callable[[TlsPaths], object], str]] = {
    "a key of another": (
        lambda one: one.key.write_bytes(AUTHORITY.issue("x").key),
        "the key is not that of the certificate; put the two that belong together there",
    ),
    "one that has ended": (
        lambda one: one.cert.write_bytes(_ended(one)),
        "certificate has expired; put a certificate there that is valid now and meant for servers",
    ),
    "an encrypted key": (_encrypted, "the key is encrypted; give one that is not"),
    "a certificate cut off": (lambda one: _rest_cut_off(one.cert), "no PEM that can be used"),
    "a key cut off": (lambda one: _rest_cut_off(one.key), "no PEM that can be used"),
    "empty files": (lambda one: [path.write_bytes(b"") for path in (one.cert, one.key)], "no PEM that can be used"),
    "no file": (lambda one: one.key.unlink(), "cannot be read: No such file or directory; make it readable"),
    "no CA": (lambda one: _ca(one).write_bytes(b"nothing"), "ca.pem: "),
    "a CA that is none": (lambda one: _ca(one).write_bytes(one.cert.read_bytes()), "holds no certificate of a CA"),
}


def _ca(one: TlsPaths) -> Path:
    assert one.client_ca is not None
    return one.client_ca


def _ended(one: TlsPaths) -> bytes:
    ended = AUTHORITY.issue("router.internal", days=0.5)
    one.key.write_bytes(ended.key)
    return ended.cert


@pytest.mark.parametrize("problem", PROBLEMS)
def test_what_no_client_could_accept_is_refused_with_its_cure(tmp_path: Path, problem: str) -> None:
    files = paths(tmp_path)
    break_it, said = PROBLEMS[problem]
    key = files.key.read_text()
    break_it(files)
    with pytest.raises(TlsInvalid) as caught:
        read_tls(files)
    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert not any(line in str(caught.value) for line in key.splitlines()[1:-1])


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    files = paths(tmp_path)
    files.key.write_bytes(AUTHORITY.issue("x").key)
    _ca(files).write_bytes(b"nothing")
    with pytest.raises(TlsInvalid) as caught:
        read_tls(files)
    assert len(str(caught.value).splitlines()) == 2


def test_the_same_again_is_no_other(tmp_path: Path) -> None:
    files = paths(tmp_path)
    certificates = Certificates(read_tls(files))
    assert not certificates.install(read_tls(files))
    AUTHORITY.issue("router.internal").write(tmp_path)
    assert certificates.install(read_tls(files))
