"""Files: the paths that make up a catalogue, and their bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from router_service.catalog.located import Located
from router_service.domain.problems import Problem

SUFFIXES = (".yaml", ".yml")
SIZE_MAX = 64 * 1024 * 1024


def read_files(path: Path, problems: list[Located], what: str = "the catalogue's files") -> dict[str, bytes]:
    """The bytes of each file by its name, in the order of names: of `path` itself, or of a folder's YAML files."""
    found: dict[str, bytes] = {}
    for one in _listed(path, problems, what):
        try:
            # Anything else (a pipe, a device) would block or never end.
            if not one.is_file() and one.exists():
                problems.append(_about(one, "not a file", "remove it, or give it another name"))
                continue
            with one.open("rb") as stream:
                data = stream.read(SIZE_MAX + 1)
        except OSError as error:
            problems.append(_about(one, f"cannot be read: {error.strerror or error}", "make it readable"))
            continue
        if len(data) > SIZE_MAX:
            problems.append(_about(one, f"more than {SIZE_MAX} bytes", "split it"))
        else:
            found[str(one)] = data
    return found


def _listed(path: Path, problems: list[Located], what: str) -> Iterator[Path]:
    """`path`, or what a folder holds, not recursive, without hidden names.

    A mounted ConfigMap is a folder of symlinks into `..data`, itself a symlink to a hidden folder: the links are
    followed, and what they lead to is hidden, so every file is read once.
    """
    try:
        if not path.is_dir():
            yield path
            return
        names = sorted(one.name for one in path.iterdir())
    except OSError as error:
        problems.append(_about(path, f"cannot be read: {error.strerror or error}", "make it readable"))
        return
    names = [name for name in names if not name.startswith(".") and name.lower().endswith(SUFFIXES)]
    if not names:
        problems.append(_about(path, "no *.yaml or *.yml file in this folder", f"put {what} there"))
    for name in names:
        yield path / name


def _about(path: Path, message: str, cure: str) -> Located:
    return Located(str(path), 0, Problem("", message, cure))
