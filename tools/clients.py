"""Tests the clients in other languages than Python, each beside a real service; names choose some of them.

`--fetch` only has what they need come, and be compiled, as far as that takes minutes.

A language whose toolchain is not on this machine is left out, with a word; in CI (CI is set) that is a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Suite:
    """How the tests of a language are run: in `clients/NAME`, one command after the other.

    `fetch` is done where it was not yet, and ahead of them where somebody asks for it.
    """

    tools: tuple[str, ...]
    test: tuple[str, ...]
    prepare: tuple[tuple[str, ...], ...] = ()
    fetch: tuple[tuple[str, ...], ...] = ()

    def missing(self) -> str:
        """The programs that are not here, for a person; empty where all are."""
        return ", ".join(tool for tool in self.tools if shutil.which(tool) is None)


# Go's race detector needs a C compiler.
_RACE = ("-race",) if shutil.which("gcc") else ()

SUITES: dict[str, Suite] = {
    "go": Suite(
        tools=("go",),
        prepare=(
            ("go", "run", "cmd/gofmt", "-d", "."),
            ("go", "vet", "./..."),
            ("go", "tool", "-modfile=tools/go.mod", "staticcheck", "./..."),
            ("go", "vet", "-C", "sdks", "./..."),
            ("go", "test", "-C", "sdks", "-count=1", "./..."),
        ),
        test=("go", "test", *_RACE, "-count=1", "./..."),
    ),
    "java": Suite(tools=("mvn", "javac"), test=("mvn", "-B", "-ntp", "verify")),
    "typescript": Suite(
        tools=("node", "npm"),
        fetch=(("node", "scripts/install.mjs"),),
        prepare=(("npm", "run", "--silent", "lint"),),
        test=("npm", "test"),
    ),
}


def run(name: str, suite: Suite) -> bool:
    """Whether everything went well. The tests find a service and a backend in ROUTER_SERVICE_LIVE."""
    folder = ROOT / "clients" / name
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    live = (sys.executable, "-m", "clients.conformance.live", name, "--", *suite.test)
    return all(
        subprocess.run(one, cwd=folder, env=environment, check=False).returncode == 0
        for one in (*suite.fetch, *suite.prepare, live)
    )


def fetch(name: str, suite: Suite) -> bool:
    """Whether what a language needs is there now."""
    folder = ROOT / "clients" / name
    return all(subprocess.run(one, cwd=folder, check=False).returncode == 0 for one in suite.fetch)


def main(arguments: list[str]) -> int:
    """Exit code 1 where a test fails, or where CI lacks a toolchain."""
    if arguments == ["--fetch"]:
        fetched = [fetch(name, suite) for name, suite in SUITES.items() if not suite.missing()]
        return 0 if all(fetched) else 1
    if unknown := set(arguments) - SUITES.keys():
        print(f"{', '.join(sorted(unknown))}: no such client; there are: {', '.join(SUITES)}", file=sys.stderr)
        return 2
    failed = []
    for name in arguments or SUITES:
        suite, begun = SUITES[name], time.monotonic()
        if missing := suite.missing():
            print(f"clients/{name}: not tested, since this machine has no {missing}", flush=True)
            failed += [name] if os.environ.get("CI") else []
            continue
        print(f"== clients/{name}", flush=True)
        failed += [] if run(name, suite) else [name]
        print(f"clients/{name}: {time.monotonic() - begun:.0f} s", flush=True)
    if failed:
        print(f"clients: failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
