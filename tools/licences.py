"""Holds docs/licences.md, the licences of what the image installs, to the packages' own metadata; --write writes it.

A licence that is not in ALLOWED fails either way: somebody has to read it first.
"""

from __future__ import annotations

import sys
from importlib.metadata import distribution
from pathlib import Path

from packaging.licenses import canonicalize_license_expression

from lock import LOCK, pins

PAGE = Path(__file__).resolve().parent.parent / "docs" / "licences.md"
ALLOWED = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "MIT", "PSF-2.0"}
# How packages that have no SPDX expression yet say it.
SPELT_OUT = {
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
    "3-Clause BSD License": "BSD-3-Clause",
}
ABOUT = """\
# Licences

The service is under the Apache License 2.0. What the image installs beside it, by `requirements.txt`, is under the
licences that each package states in its metadata. All allow use, change and redistribution, and ask that their notices
stay with them: the image keeps them (`*.dist-info/licenses`). `make sbom` writes the same list as CycloneDX.

| package | version | licence |
| --- | --- | --- |
"""


def licence(name: str) -> str:
    """The SPDX expression of an installed package, or what it says where that is none."""
    metadata = distribution(name).metadata.json
    if expression := metadata.get("license_expression"):
        return str(canonicalize_license_expression(str(expression)))
    classifiers = [one.rpartition(" :: ")[2] for one in metadata.get("classifier", ()) if one.startswith("License ::")]
    said = classifiers or str(metadata.get("license", "none stated")).splitlines()[:1]
    return " OR ".join(SPELT_OUT.get(one, one) for one in said)


def page() -> tuple[str, list[str]]:
    """The page, and what is wrong: packages whose licence nobody has allowed."""
    rows, told = [], []
    for name, pin in sorted(pins(LOCK.read_text("utf-8")).items()):
        if not pin.in_image:
            continue
        found = licence(name)
        rows.append(f"| {name} | {pin.version} | {found} |")
        if not set(found.replace("(", "").replace(")", "").replace(" OR ", " AND ").split(" AND ")) <= ALLOWED:
            told.append(f"{name}: under {found}; read it, then add it to ALLOWED in tools/licences.py, or do without")
    return ABOUT + "\n".join(rows) + "\n", told


def main(arguments: list[str]) -> int:
    """Exit code 1 where a licence is not allowed, or the page is found stale."""
    if arguments not in ([], ["--write"]):
        print("usage: licences.py [--write]", file=sys.stderr)
        return 2
    text, told = page()
    if arguments:
        PAGE.write_text(text, "utf-8")
    elif not PAGE.exists() or PAGE.read_text("utf-8") != text:
        told.append("docs/licences.md is not what the packages say; run: make lock")
    print("\n".join(told) if told else "docs/licences.md: every licence is allowed")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
