"""The file of results: a section a benchmark, each written as it comes, the others left as they are."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.catalogues import catalogue
from benchmarks.figures import Section
from benchmarks.processes import GENERATOR_CORE, SERVER_CORE

PATH = Path(__file__).resolve().parent / "results.md"
_LIBRARIES = ("grpcio", "protobuf", "uvloop", "prometheus-client")


class Results:
    """Results by title, in the order in which benchmarks are run."""

    def __init__(self, path: Path, titles: tuple[str, ...]) -> None:
        self._path, self._titles = path, titles
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
        self._texts = {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in parts}

    def put(self, section: Section, *, quick: bool) -> str:
        """Puts a section into the file, with when and on what it was measured, and returns it."""
        how = " with --quick: few and short rounds, no more than a hint" if quick else ""
        told = f"*Measured {datetime.now(UTC):%Y-%m-%d} at {_revision()}{how}.*"
        text = "\n".join((f"## {section.title}", "", told, "", *section.lines)).rstrip() + "\n"
        self._texts[section.title] = text
        ordered = [self._texts[title] for title in self._titles if title in self._texts]
        self._path.write_text("\n".join((_head(), *ordered)), encoding="utf-8")
        return text


def _head() -> str:
    libraries = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES)
    system = f"{platform.system()} {platform.release().partition('-')[0]}"
    tools = f"{_version('h2load', '--version')}, {_version('go', 'version')}"
    return f"""# Results

Written by `make bench`; docs/performance.md says how to read it. On another machine only the ratios mean anything.

- machine: {_processor()}, {os.cpu_count()} cores, {system}; servers on core {SERVER_CORE},
  generators on core {GENERATOR_CORE}
- Python {platform.python_version()}, {libraries}, {tools}
- catalogues: {catalogue(10).source}; places, speeds, failures and languages drawn by a seed
"""


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.+)$", info.read_text(), re.MULTILINE) if info.exists() else None
    return found[1] if found else platform.machine()


def _version(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return f"no {command[0]}"
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout.strip()


def _revision() -> str:
    """The commit, and whether the service's code differs from it."""
    root = PATH.parents[1]

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout.strip()

    if shutil.which("git") is None or not (commit := git("rev-parse", "--short", "HEAD")):
        return "an unknown commit"
    return f"commit {commit}{' with changes' if git('status', '--porcelain', '--', 'router_service') else ''}"
