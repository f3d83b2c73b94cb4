"""Writes the Python stubs of proto/: router_service/v1/ and the client's own copy; with --check, compares instead.

`buf generate` makes the stubs as buf.gen.yaml says. The client's copy differs in its imports alone, so that either
distribution works without the other, and both in one process: their descriptors are the same bytes.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVICE = Path("router_service/v1")
CLIENT = Path("clients/python/src/router_service_client/v1")
DOCSTRING = '"""What protoc makes of proto/router_service/v1: `make generate` writes it, and nobody edits it."""\n'

# Imports, and the module that a message class says it comes from. The package in the descriptors stays as it is.
_MODULE = re.compile(r"^from router_service\.v1 import|(?<=\(DESCRIPTOR, ')router_service\.v1\.", re.MULTILINE)


def for_client(text: str) -> str:
    """The text of a stub with the modules of the client in place of the service's."""
    return _MODULE.sub(lambda match: match.group().replace("router_service.", "router_service_client."), text)


def stubs() -> dict[Path, str]:
    """Every generated file by its path in the repository."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        subprocess.run(["buf", "generate", "--output", folder], cwd=ROOT, env=environment, check=True)
        made = {path.name: path.read_text(encoding="utf-8") for path in sorted(Path(folder, SERVICE).iterdir())}
    files = {SERVICE / name: text for name, text in made.items()}
    files |= {CLIENT / name: for_client(text) for name, text in made.items()}
    return files | {SERVICE / "__init__.py": DOCSTRING, CLIENT / "__init__.py": DOCSTRING}


def committed() -> dict[Path, str]:
    """Every file of the generated folders as it is, caches of the interpreter aside."""
    found = (path for folder in (SERVICE, CLIENT) for path in (ROOT / folder).rglob("*") if path.is_file())
    return {
        path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in found if path.parent.name != "__pycache__"
    }


def differences(new: dict[Path, str], old: dict[Path, str]) -> list[str]:
    """What is missing, stale or changed, one entry a file."""
    told = []
    for path in sorted(new.keys() | old.keys()):
        if path not in old:
            told.append(f"{path}: missing")
        elif path not in new:
            told.append(f"{path}: stale, no proto makes it")
        elif new[path] != old[path]:
            both = old[path].splitlines(), new[path].splitlines()
            lines = difflib.unified_diff(*both, "committed", "generated", n=0, lineterm="")
            told.append(f"{path}: not what the protos make\n" + "\n".join(line[:200] for line in lines))
    return told


def write(new: dict[Path, str]) -> None:
    """Replaces the generated folders as a whole."""
    for folder in (SERVICE, CLIENT):
        shutil.rmtree(ROOT / folder, ignore_errors=True)
        (ROOT / folder).mkdir(parents=True)
    for path, text in new.items():
        (ROOT / path).write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Exit code 1 where --check finds a difference."""
    new = stubs()
    if arguments == ["--check"]:
        told = differences(new, committed())
        print("\n".join([*told, "run: make generate"]) if told else f"{len(new)} generated files are current")
        return 1 if told else 0
    if arguments:
        print("usage: generate.py [--check]", file=sys.stderr)
        return 2
    write(new)
    print(f"wrote {len(new)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
