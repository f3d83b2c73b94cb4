"""Holds requirements.txt, all that the image installs, each to the version and by its hashes; --write writes it.

The check needs no network: the pins must meet pyproject.toml's bounds and be closed under what each package requires;
each has hashes; and they are what this environment has, since what was tested is what ships.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.txt"
EXTRAS = ("otel", "redis")  # what the image has beside the core
# The image's Python and platform, as markers name them.
IMAGE = {
    "python_version": "3.11",
    "python_full_version": "3.11.14",
    "implementation_name": "cpython",
    "platform_system": "Linux",
    "sys_platform": "linux",
    "os_name": "posix",
}
HEADER = """\
# What the image installs, to the version, by hash: `make lock` writes it from pyproject.toml, and nobody edits it.
# It names no place to download from: that is pip's own configuration.
"""
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
_ADDRESS = re.compile(r"://|^\s*-(?!-hash)", re.MULTILINE)


class Pin(NamedTuple):
    """One package of the lock."""

    requirement: Requirement
    hashes: int

    @property
    def applies(self) -> bool:
        """Whether this interpreter and platform need it."""
        return self.requirement.marker is None or self.requirement.marker.evaluate()

    @property
    def in_image(self) -> bool:
        """Whether the image needs it, whatever this interpreter is."""
        return self.requirement.marker is None or self.requirement.marker.evaluate(IMAGE)

    @property
    def version(self) -> str:
        """The one version that is allowed."""
        return str(self.requirement.specifier).removeprefix("==")


def pins(text: str) -> dict[str, Pin]:
    """The packages of a lock by their canonical names."""
    entries = re.sub(r"\\\n", " ", re.sub(r"#.*", "", text)).splitlines()
    found = [(Requirement(re.sub(r"--hash=\S+", "", one)), len(_HASH.findall(one))) for one in entries if one.strip()]
    return {canonicalize_name(requirement.name): Pin(requirement, hashes) for requirement, hashes in found}


def wanted() -> list[Requirement]:
    """What the service asks for, with the extras of the image."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    return [Requirement(text) for text in texts]


def problems(text: str) -> list[str]:
    """What is wrong with a lock, each with its cure."""
    told = [f"{len(found)} addresses or options, such as {found[0]!r}"] if (found := _ADDRESS.findall(text)) else []
    locked = pins(text)
    told += [f"{name}: no hashes" for name, pin in locked.items() if not pin.hashes]
    told += [f"{name}: {pin.requirement.specifier} is no pin" for name, pin in locked.items() if not _is_pin(pin)]
    seen: set[str] = set()
    open_ends = [(requirement, "pyproject.toml") for requirement in wanted()]
    while open_ends:
        requirement, by = open_ends.pop()
        name = canonicalize_name(requirement.name)
        pin = locked.get(name)
        if pin is None:
            told.append(f"{name}: not locked, and {by} needs it")
            continue
        if not requirement.specifier.contains(pin.version, prereleases=True):
            told.append(f"{name}: {pin.version} is locked, and {by} asks for {requirement.specifier}")
        if name not in seen and pin.applies:
            seen.add(name)
            open_ends += _required(name, pin, requirement.extras, told)
    told += [f"{name}: nothing needs it" for name, pin in locked.items() if pin.applies and name not in seen]
    return told


def _is_pin(pin: Pin) -> bool:
    return re.fullmatch(r"==[\w.+!-]+", str(pin.requirement.specifier)) is not None


def _required(name: str, pin: Pin, extras: set[str], told: list[str]) -> list[tuple[Requirement, str]]:
    """What an installed package requires here; a version that is not the locked one is told."""
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        told.append(f"{name}: {pin.version} is locked, and this environment has none: make clean, and again")
        return []
    if installed.version != pin.version:
        told.append(f"{name}: {pin.version} is locked, and {installed.version} is tested: make clean, or make lock")
    found = [Requirement(text) for text in installed.requires or ()]
    return [
        (one, name)
        for one in found
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in (*extras, ""))
    ]


def write() -> None:
    """Locks the newest versions that pyproject.toml allows, for every platform and Python that it allows."""
    command = [
        "uv",
        "pip",
        "compile",
        "--universal",
        "--generate-hashes",
        "--no-emit-index-url",
        "--no-header",
        "--quiet",
    ]
    command += ["--no-annotate", "--upgrade", "--python-version", "3.11", "pyproject.toml"]
    command += [word for extra in EXTRAS for word in ("--extra", extra)]
    tool = Path(sys.executable).parent / command[0]
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, check=True, capture_output=True, text=True)
    LOCK.write_text(HEADER + done.stdout, "utf-8")


def main(arguments: list[str]) -> int:
    """Exit code 1 where the check finds a problem."""
    if arguments not in ([], ["--write"]):
        print("usage: lock.py [--write]", file=sys.stderr)
        return 2
    if arguments:
        write()
        print(f"wrote {LOCK.name}")
        return 0
    text = LOCK.read_text("utf-8")
    told = [f"requirements.txt: {one}" for one in problems(text)]
    print("\n".join(told) if told else f"requirements.txt: {len(pins(text))} packages, each pinned and hashed")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
