"""Carries out a Dockerfile without an engine: each stage in a folder that stands for its root.

COPY reads the working tree as git and .dockerignore leave it; RUN has the absolute paths of the image put under that
folder, and a fresh virtual environment for the base image's Python. Users, labels and isolation are passed over.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import string
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASE = re.compile(r"python:3\.\d+-slim-\w+")


class Failed(Exception):
    """A step of the Dockerfile that does not do what it says."""


def instructions(text: str) -> list[tuple[str, str]]:
    """Each instruction's word and the rest of it, comments and line continuations resolved."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    steps = [line.strip() for line in re.sub(r"\\\n", " ", lines).splitlines() if line.strip()]
    return [(word.upper(), rest.strip()) for word, _, rest in (step.partition(" ") for step in steps)]


def ignored(path: str, patterns: list[str]) -> bool:
    """Whether .dockerignore leaves a file out: the last pattern that matches it or a folder above it decides."""
    verdict = False
    for pattern in patterns:
        parts = re.split(r"(\*\*/|\*)", pattern.removeprefix("!"))
        regex = "".join({"**/": "(?:.*/)?", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)
        if re.fullmatch(f"{regex}(?:/.*)?", path):
            verdict = not pattern.startswith("!")
    return verdict


def write_context(folder: Path) -> None:
    """Copies what `docker build` would be sent from a clean checkout with the changes of the working tree."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    patterns = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file() and not ignored(name, patterns):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


class Stage:
    """One stage, built at a root that all stages have in turn, since finished environments remember their place."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root = folder, folder / "root"
        self.workdir, self.user, self.said = "/", "", dict[str, list[str]]()
        subprocess.run([sys.executable, "-m", "venv", self.root / "usr/local"], check=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ROUTER_SERVICE"))}
        self.env = {**kept, "PATH": f"{self.root}/usr/local/bin:/usr/bin:/bin"}

    def inside(self, text: str) -> str:
        """The text with absolute paths put under the root."""
        return re.sub(r"(?<![\w.$/-])/(?=\w)", f"{self.root}/", text)

    def path(self, name: str) -> Path:
        """A path of the image, absolute or from the working directory."""
        return Path(f"{self.root}{name}" if name.startswith("/") else f"{self.root}{self.workdir}/{name}")

    def found(self, command: list[str]) -> list[str]:
        """The command with its program's place in the image, as the image's PATH finds it."""
        return [shutil.which(command[0], path=self.env["PATH"]) or command[0], *command[1:]]

    def run(self, command: list[str], **extra: str) -> None:
        """Runs a command in the image; Failed with what it said."""
        done = subprocess.run(
            self.found(command),
            cwd=self.path("."),
            env={**self.env, **extra},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode:
            raise Failed(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stdout[-4000:]}")

    def step(self, word: str, rest: str) -> None:
        """Carries out one instruction; those that change no file are kept or passed over."""
        if word == "WORKDIR":
            self.workdir = rest
            self.path(".").mkdir(parents=True, exist_ok=True)
        elif word == "RUN":
            self.run(["sh", "-ec", self.inside(rest)])
        elif word == "ENV":
            pairs = (pair.split("=", 1) for pair in shlex.split(rest))
            self.env |= {name: string.Template(self.inside(value)).substitute(self.env) for name, value in pairs}
        elif word == "COPY":
            *options, target = shlex.split(rest)
            stage = next((one.removeprefix("--from=") for one in options if one.startswith("--from=")), "context")
            for source in (one for one in options if not one.startswith("--")):
                self.copy(self.folder / stage / source.lstrip("/"), target)
        elif word == "USER":
            self.user = rest
        elif word in {"ENTRYPOINT", "CMD", "HEALTHCHECK"}:
            self.said[word] = json.loads(rest[rest.index("[") :])

    def copy(self, source: Path, target: str) -> None:
        """Copies a file to a folder or a name, or what is in a folder."""
        if not source.exists():
            raise Failed(f"COPY: {source.name} is not there; does .dockerignore leave it out?")
        if source.is_dir():
            shutil.copytree(source, self.path(target), symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(source, self.path(target))


def build(folder: Path) -> Stage:
    """Builds all stages; the last one stays at its root."""
    stage, name = None, ""
    defaults: dict[str, str] = {}
    for word, told in instructions((ROOT / "Dockerfile").read_text()):
        rest = told
        if word == "ARG" and stage is None:
            argument, _, value = rest.partition("=")
            defaults[f"${{{argument}}}"] = value
        elif word == "FROM":
            for argument, value in defaults.items():
                rest = rest.replace(argument, value)
            if not BASE.fullmatch(rest.split()[0]):
                raise Failed(f"FROM {rest}: not a slim Python pinned by its minor version")
            if stage:
                stage.root.rename(folder / name)
            stage, name = Stage(folder), rest.split()[-1]
        elif stage:
            stage.step(word, rest)
    if stage is None:
        raise Failed("no FROM")
    return stage
