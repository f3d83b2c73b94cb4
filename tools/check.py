"""Runs every check of the repository, or those named; tells what failed and how long each took.

All steps run even where one fails, so that one run tells everything. Exit code 1 on a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

STEPS: dict[str, list[str]] = {
    "buf lint": ["buf", "lint"],
    "buf format": ["buf", "format", "--diff", "--exit-code"],
    "buf breaking": ["buf", "breaking", "--against", "proto/baseline.binpb"],
    "stubs": ["python", "tools/generate.py", "--check"],
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "--quiet", "."],
    "mypy": ["mypy"],
    "layers": ["lint-imports", "--no-logo"],
    "lock": ["python", "tools/lock.py"],
    "licences": ["python", "tools/licences.py"],
    "shellcheck": ["shellcheck", ".ci/run"],
    "hadolint": ["hadolint", "Dockerfile"],
    "dockerfile": ["python", "tools/try_dockerfile.py"],
}


def run(name: str, command: list[str]) -> bool:
    """Runs one step with the tools of this interpreter's environment first; shows its output where it fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    begun = time.monotonic()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    passed = done.returncode == 0
    print(f"{'ok    ' if passed else 'FAILED'} {name:13} {time.monotonic() - begun:5.1f} s", flush=True)
    if not passed:
        print(f"--- {' '.join(command)}\n{done.stdout.decode(errors='replace').rstrip()}\n---", flush=True)
    return passed


def main(arguments: list[str]) -> int:
    """Every step, or each whose name begins with one of the arguments."""
    steps = {name: step for name, step in STEPS.items() if not arguments or name.startswith(tuple(arguments))}
    if not steps:
        print(f"no such step; there are: {', '.join(STEPS)}", file=sys.stderr)
        return 2
    failed = [name for name, command in steps.items() if not run(name, command)]
    print(f"check: failed: {', '.join(failed)}" if failed else f"check: all {len(steps)} steps passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
