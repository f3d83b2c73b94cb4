"""Certificates for tests: a CA of its own, and what it issues."""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_PEM = serialization.Encoding.PEM


class Issued:
    """A certificate and its key, in PEM."""

    def __init__(self, cert: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self.cert = cert.public_bytes(_PEM)
        self.key = key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        self.expires_at_s = cert.not_valid_after_utc.timestamp()

    def write(self, folder: Path, name: str = "server") -> tuple[Path, Path]:
        """Writes them, each in one step, as whoever renews certificates does."""
        paths = folder / f"{name}.pem", folder / f"{name}.key"
        for path, text in zip(paths, (self.cert, self.key), strict=True):
            new = path.with_suffix(".new")
            new.write_bytes(text)
            new.rename(path)
        return paths


class Authority:
    """A CA."""

    def __init__(self, name: str = "tests") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = self._builder(self._name, self._key, 30).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.pem = made.sign(self._key, hashes.SHA256()).public_bytes(_PEM)

    def write(self, folder: Path, name: str = "ca") -> Path:
        """Writes its certificate."""
        path = folder / f"{name}.pem"
        path.write_bytes(self.pem)
        return path

    def issue(self, *names: str, common_name: str = "", days: float = 10) -> Issued:
        """A certificate of these alternative names, valid for so many days from yesterday on."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name or "-")]), key, days)
        if names:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_general(name) for name in names]), critical=False
            )
        return Issued(builder.sign(self._key, hashes.SHA256()), key)

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, days: float) -> x509.CertificateBuilder:
        since = datetime.now(UTC) - timedelta(days=1)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(since)
            .not_valid_after(since + timedelta(days=days))
        )


def _general(name: str) -> x509.GeneralName:
    if "://" in name:
        return x509.UniformResourceIdentifier(name)
    if "@" in name:
        return x509.RFC822Name(name)
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
