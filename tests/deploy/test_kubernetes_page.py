"""docs/kubernetes.md: what it has you write is built, and what it says of the manifests is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.kubernetes import COMPONENTS, OVERLAYS, ROOT, build, containers, copied, overlays, routers, template
from tests.deploy.kubernetes_rules import flags

PAGE = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
KUSTOMIZATIONS = re.findall(r"```yaml\n# kustomization\.yaml\n(.*?)```", PAGE, re.DOTALL)
_SECRET = re.compile(r"'secretKeyRef': {[^}]*'name': '([a-z-]+)'|'secretName': '([a-z-]+)'")


@pytest.mark.parametrize("number", range(len(KUSTOMIZATIONS)))
def test_each_kustomization_is_built(tmp_path: Path, number: int) -> None:
    own = copied(tmp_path, KUSTOMIZATIONS[number])
    for name in ("catalog.yaml", "policies.yaml", "endpoints.yaml", "envoy.yaml"):
        (own / name).write_text(f"# {name}\n")
    (built,) = build(own)
    assert built.problems == []
    mounted = template(built.only("Deployment"))["spec"]["volumes"]
    sources = next(one for one in mounted if one["name"] == "catalog")
    named = set(re.findall(r"'name': '(router-service-[a-z]+)'", str(sources)))
    made = {one["metadata"]["name"] for one in built.of("ConfigMap")}
    assert named <= made or "persistentVolumeClaim" in sources
    for file in re.findall(r"  files: \[(catalog|envoy)\.yaml\]", KUSTOMIZATIONS[number]):
        (own_file,) = (one for one in built.of("ConfigMap") if f"{file}.yaml" in one["data"])
        assert own_file["data"] == {f"{file}.yaml": f"# {file}.yaml\n"}
        assert own_file["metadata"]["name"] in str(mounted)
        assert containers(built.only("Deployment"))[0]["image"].startswith("registry.example/router-service:")


def test_it_tells_of_every_overlay_and_component() -> None:
    assert len(KUSTOMIZATIONS) >= 4
    assert [name for name in OVERLAYS if f"| `{name}` |" not in PAGE] == []
    assert [name for name in COMPONENTS if f"`{name}`" not in PAGE and f"components/{name}]" not in PAGE] == ["catalog"]


def test_it_tells_of_every_secret() -> None:
    rows = set(re.findall(r"^\| `([a-z-]+)` \|.*(?:environment|files) \|", PAGE, re.MULTILINE))
    assert rows == {name for one in overlays().values() for name in secrets(one.objects)} | {
        "router-service-tls",
        "router-service-callers",
    }


def secrets(objects: list[Any]) -> set[str]:
    """Names of Secrets that are asked for."""
    return {name for pair in _SECRET.findall(str(objects)) for name in pair if name}


def test_its_times_and_sizes_are_those_of_the_manifests() -> None:
    ((workload, container),) = routers(overlays()["redis"].objects)
    told, spec = flags(container), template(workload)["spec"]
    sleep = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    resources = container["resources"]
    for said in (
        f"`preStop` sleeps {sleep} s",
        f"| {sleep} s | SIGTERM",
        f"`--drain-delay` {told['--drain-delay']} s",
        f"`--grace` {told['--grace']} s",
        f"| {spec['terminationGracePeriodSeconds']} s | `terminationGracePeriodSeconds`",
        f"| `{resources['requests']['memory']}` | `{resources['limits']['memory']}` |",
        f"It asks for `{resources['requests']['cpu']}`",
    ):
        assert said in PAGE, said


def test_as_many_endpoints_as_it_says_fit_a_configmap() -> None:
    said = re.search(r"takes 1 MiB, some (\d+) endpoints", PAGE)
    sample = (ROOT / "deploy/envoy/envoy.yaml").read_text(encoding="utf-8")
    each = len(sample.encode()) / len(yaml.safe_load(sample)["static_resources"]["clusters"])
    assert said is not None
    assert 0.75 < int(said[1]) * each / 2**20 < 1
