"""The manifests of deploy/kubernetes as they are built, and what an API server would say of them."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
KUBERNETES = ROOT / "deploy/kubernetes"
OVERLAYS = sorted(one.name for one in (KUBERNETES / "overlays").iterdir())
COMPONENTS = sorted(one.name for one in (KUBERNETES / "components").iterdir())
TOOLS = ROOT / "tools/manifests"
# The first build compiles a good part of Kubernetes, which takes minutes of a slow machine; Go keeps what it built.
_BUILD_S = 1500

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Built:
    """What came of one folder."""

    objects: list[Manifest]
    problems: list[str]

    def of(self, kind: str) -> list[Manifest]:
        """The objects of a kind."""
        return [one for one in self.objects if one["kind"] == kind]

    def only(self, kind: str, name: str = "") -> Manifest:
        """The one object of a kind (and name)."""
        (found,) = [one for one in self.of(kind) if name in ("", one["metadata"]["name"])]
        return found


@functools.cache
def tool(name: str) -> str:
    """The path of a program of tools/manifests, built if need be. In CI a missing Go is a failure, elsewhere a skip."""
    go = shutil.which("go")
    if go is None:
        missing = "go is not installed, which builds kustomize, the API server's rules and grpc-health-probe"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    done = subprocess.run(
        [go, "tool", "-n", name], cwd=TOOLS, capture_output=True, text=True, timeout=_BUILD_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def build(*folders: Path) -> list[Built]:
    """Builds kustomizations, each with all that is wrong with it."""
    return _ask(*map(str, folders))


def judge(text: str) -> list[str]:
    """What is wrong with manifests in YAML."""
    return _ask("-", text=text)[0].problems


def _ask(*arguments: str, text: str = "") -> list[Built]:
    done = subprocess.run(
        [tool("manifests"), *arguments], input=text, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return [Built(one["objects"], one["problems"]) for one in json.loads(done.stdout)]


@functools.cache
def overlays() -> dict[str, Built]:
    """Every overlay as it stands."""
    return dict(zip(OVERLAYS, build(*(KUBERNETES / "overlays" / name for name in OVERLAYS)), strict=True))


def copied(folder: Path, kustomization: str) -> Path:
    """A kustomization of a user's own, in a folder `own` beside copies of base, components and overlays."""
    shutil.copytree(KUBERNETES, folder, dirs_exist_ok=True)
    (folder / "own").mkdir()
    (folder / "own/kustomization.yaml").write_text(kustomization)
    return folder / "own"


def template(workload: Manifest) -> Manifest:
    """The Pods of a workload."""
    return workload["spec"]["template"]


def containers(workload: Manifest) -> list[Manifest]:
    """All containers of its Pods, those that begin first before the others."""
    spec = template(workload)["spec"]
    return [*spec.get("initContainers", ()), *spec["containers"]]


def routers(objects: list[Manifest]) -> Iterator[tuple[Manifest, Manifest]]:
    """(workload, container) of each router-service."""
    for workload in objects:
        if workload["kind"] == "Deployment":
            for container in containers(workload):
                if container["name"] == "router-service":
                    yield workload, container
