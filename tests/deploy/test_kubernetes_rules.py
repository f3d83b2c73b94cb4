"""The manifests obey what an API server cannot know; each rule finds what is wrong, so that none is empty."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from router_service.catalog.check import check
from tests.deploy.kubernetes import OVERLAYS, Built, build, copied, overlays, routers
from tests.deploy.kubernetes_rules import RULES


@pytest.fixture(scope="module")
def identified(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """With TLS and callers."""
    folder = tmp_path_factory.mktemp("own")
    return build(copied(folder, "resources: [../overlays/redis]\ncomponents: [../components/identity]\n"))[0]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_it_holds(overlay: str, rule: str) -> None:
    assert [*RULES[rule](overlays()[overlay].objects)] == []


@pytest.mark.parametrize("rule", RULES)
def test_it_holds_with_tls_and_callers(identified: Built, rule: str) -> None:
    assert [*RULES[rule](identified.objects)] == []


def test_every_overlay_has_a_router() -> None:
    assert {name: len([*routers(one.objects)]) for name, one in overlays().items()} == dict.fromkeys(OVERLAYS, 1)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_its_catalogue_has_no_problem(overlay: str, tmp_path: Path) -> None:
    for name, text in overlays()[overlay].only("ConfigMap", "router-service-catalog")["data"].items():
        (tmp_path / name).write_text(text)
    result = check(tmp_path, now=0)
    assert (result.problems, result.warnings) == ((), ())


def deployment(objects: list[Any]) -> Any:
    return next(one for one in objects if one["kind"] == "Deployment")


def pod(objects: list[Any]) -> Any:
    return deployment(objects)["spec"]["template"]["spec"]


def router(objects: list[Any]) -> Any:
    return next(routers(objects))[1]


def of(objects: list[Any], kind: str) -> Any:
    return next(one for one in objects if one["kind"] == kind)


def without(objects: list[Any], kind: str) -> None:
    objects[:] = [one for one in objects if one["kind"] != kind]


def say(old: str, new: str) -> Callable[[list[Any]], object]:
    """Other arguments."""
    return lambda one: router(one).update(args=[each.replace(old, new) for each in router(one)["args"]])


# rule: (overlay, what is done to it, what must be said of it)
BROKEN: dict[str, list[tuple[str, Callable[[list[Any]], object], str]]] = {
    "arguments are the commands own": [
        ("redis", say("--grace=", "--grase="), "serve has no --grase"),
        ("redis", say("--grace=10", "--grace=ten"), "--grace: 'ten' is not a valid"),
        ("redis", lambda one: router(one)["env"][0].update(name="ROUTER_SERVICE_STORES"), "reads no"),
    ],
    "ports are those of the flags": [
        ("redis", say("0.0.0.0:50051", "0.0.0.0:50052"), "listens on"),
        ("redis", say("0.0.0.0:9090", "127.0.0.1:9090"), "--admin is loopback"),
        ("redis", lambda one: router(one)["ports"].pop(), "listens on"),
    ],
    "probes ask the right service where they can": [
        ("redis", lambda one: router(one)["livenessProbe"]["grpc"].update(service="store"), "livenessProbe asks for"),
        ("redis", lambda one: router(one)["readinessProbe"]["grpc"].update(service=""), "readinessProbe asks for"),
        ("redis", lambda one: router(one)["startupProbe"]["grpc"].update(port=9090), "startupProbe on 9090"),
        ("redis", lambda one: router(one).pop("readinessProbe"), "readinessProbe on None"),
        ("redis", lambda one: router(one)["args"].append("--tls-cert=/a"), "plain gRPC on []"),
        ("sidecar", lambda one: router(one)["livenessProbe"].update(failureThreshold=0), "is not alive after 0 s"),
    ],
    "there is time to end": [
        ("redis", say("--grace=10", "--grace=30"), "to end and has 45"),
        ("redis", lambda one: pod(one).update(terminationGracePeriodSeconds=30), "to end and has 30"),
        ("sqlite", lambda one: router(one).pop("lifecycle"), "its address is still known"),
        ("sqlite", say("--drain-delay=3", "--drain-delay=0"), "its address is still known"),
        ("sidecar", say("--drain-delay=0", "--drain-delay=3"), "the only one has ended"),
        ("envoy", lambda one: pod(one).update(terminationGracePeriodSeconds=80), "to end and has 80"),
    ],
    "one alone has the file": [
        ("sqlite", lambda one: deployment(one)["spec"].update(replicas=2), "several at once"),
        ("sqlite", lambda one: deployment(one)["spec"].update(strategy={"type": "RollingUpdate"}), "several at once"),
        ("sqlite", lambda one: router(one)["env"][0].update(value="sqlite:///tmp/a.db"), "not on a volume"),
        ("sqlite", lambda one: of(one, "PersistentVolumeClaim")["spec"].update(accessModes=["ReadWriteMany"]), "not"),
        ("redis", lambda one: router(one).pop("env"), "no store"),
        ("redis", lambda one: router(one)["env"][0].update(value="redis://me:secret@redis"), "take it from a Secret"),
    ],
    "files are where flags say": [
        ("redis", say("--catalog=/etc", "--catalog=/opt"), "is on no volume"),
        ("redis", lambda one: router(one)["volumeMounts"][0].update(subPath="catalog.yaml"), "subPath"),
        ("sidecar", say("unix:/run/router-service", "unix:/etc/router-service/catalog"), "not in a folder that"),
    ],
    "each replica can go": [
        ("redis", lambda one: without(one, "PodDisruptionBudget"), "0 disruption budgets"),
        ("redis", lambda one: of(one, "PodDisruptionBudget")["spec"].update(maxUnavailable=0), "0 may go"),
        ("redis", lambda one: of(one, "PodDisruptionBudget")["spec"].update(maxUnavailable=3), "3 may go"),
    ],
    "everything selects something": [
        ("redis", lambda one: of(one, "Service")["spec"].update(selector={"a": "b"}), "selects 0 workloads"),
        ("redis", lambda one: of(one, "NetworkPolicy")["spec"].update(podSelector={}), "whatever there is"),
        ("redis", lambda one: of(one, "Service")["spec"]["ports"][0].update(targetPort="http"), "names ports"),
    ],
    "nobody else comes in or goes out": [
        ("redis", lambda one: without(one, "NetworkPolicy"), "is under no policy"),
        ("redis", lambda one: of(one, "NetworkPolicy")["spec"].update(policyTypes=["Ingress"]), "only"),
        ("redis", lambda one: of(one, "NetworkPolicy")["spec"]["ingress"][0].pop("from"), "for everybody"),
        ("redis", lambda one: of(one, "NetworkPolicy")["spec"]["ingress"][0]["from"].append({}), "for everybody"),
        ("redis", lambda one: of(one, "NetworkPolicy")["spec"].update(egress=[]), "no way to the store"),
    ],
    "containers can do little": [
        ("redis", lambda one: pod(one).pop("automountServiceAccountToken"), "has a token"),
        ("redis", lambda one: pod(one).pop("enableServiceLinks"), "ROUTER_SERVICE_PORT"),
        ("redis", lambda one: router(one)["securityContext"].pop("readOnlyRootFilesystem"), "write to its root"),
        ("redis", lambda one: router(one)["resources"].pop("limits"), "no bound of memory"),
        ("redis", lambda one: router(one).update(image="router-service:latest"), "is no version"),
        ("redis", lambda one: router(one).update(image="router-service:0.0.9"), "is not version"),
    ],
    "secrets are not in here": [
        ("redis", lambda one: one.append({"kind": "Secret", "metadata": {"name": "keys"}}), "Secret keys"),
    ],
}


@pytest.mark.parametrize("rule", RULES)
def test_it_finds_what_breaks_it(rule: str) -> None:
    for overlay, wrong, said in BROKEN[rule]:
        objects = copy.deepcopy(overlays()[overlay].objects)
        wrong(objects)
        found = [*RULES[rule](objects)]
        assert any(said in one for one in found), (said, found)
