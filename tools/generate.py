"""Writes the stubs of proto/ in every language whose toolchain is here; with --check, compares instead.

`tools/stubs/` knows how they are made, a module a language. In CI (CI is set) a missing toolchain is a failure.
"""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from stubs import LANGUAGES
from stubs.buf import ROOT

_CACHES = {"__pycache__"}


def committed(folders: Iterable[Path]) -> dict[Path, str]:
    """Every file of the generated folders as it is, caches of the interpreter aside."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return {
        path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in found if path.parent.name not in _CACHES
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


def write(new: dict[Path, str], folders: Iterable[Path]) -> None:
    """Replaces the generated folders as a whole."""
    for folder in folders:
        shutil.rmtree(ROOT / folder, ignore_errors=True)
    for path, text in new.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Exit code 1 where --check finds a difference, or where CI lacks a toolchain."""
    check = "--check" in arguments
    names = [one for one in arguments if one != "--check"]
    if unknown := set(names) - LANGUAGES.keys():
        usage = f"usage: generate.py [--check] [{'|'.join(LANGUAGES)}]..."
        print(f"{', '.join(sorted(unknown))}: no such language\n{usage}", file=sys.stderr)
        return 2
    told = []
    for name in names or LANGUAGES:
        language = LANGUAGES[name]
        if missing := language.missing():
            print(f"{name}: left as it is, since this machine has no {missing}")
            told += [f"{name}: CI needs {missing}"] if os.environ.get("CI") else []
            continue
        new = language.stubs()
        if check:
            told += differences(new, committed(language.FOLDERS))
        else:
            write(new, language.FOLDERS)
        print(f"{name}: {len(new)} files {'compared' if check else 'written'}")
    if told:
        print("\n".join([*told, "run: make generate"]))
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
