"""What an API server cannot know of the manifests: each rule gives what breaks it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import click

import router_service
from router_service.cli.serve import command
from router_service.server.app import SERVICES
from router_service.server.drain import FLUSH_S
from router_service.server.listen import Address
from tests.deploy.kubernetes import Manifest, containers, routers, template

Objects = list[Manifest]
_OPTIONS = {opt: one for one in command.params for opt in (*one.opts, *one.secondary_opts)}
_VARIABLES = {one.envvar for one in command.params if isinstance(one, click.Option)}


def flags(container: Manifest) -> dict[str, str]:
    """What is said of each flag, by its name."""
    said = (one.partition("=") for one in container["args"][1:])
    return {name: value for name, _, value in said}


def number(container: Manifest, flag: str) -> float:
    """What a flag in seconds says, or its default."""
    return float(flags(container).get(flag, _OPTIONS[flag].get_default(click.Context(command)) or 0))


def arguments_are_the_commands_own(objects: Objects) -> Iterator[str]:
    """Flags, their values, and variables of the environment."""
    for _, container in routers(objects):
        if container["args"][0] != "serve":
            yield f"{container['args'][0]} is not serve"
        for name, value in flags(container).items():
            option = _OPTIONS.get(name)
            if option is None:
                yield f"serve has no {name}"
            elif not isinstance(option.type, click.Path) and value:
                try:
                    option.type_cast_value(click.Context(command), (value,) if option.multiple else value)
                except click.BadParameter as wrong:
                    yield f"{name}: {wrong.message}"
        for variable in container.get("env", ()):
            if variable["name"] not in _VARIABLES:
                yield f"serve reads no {variable['name']}"


def listeners(container: Manifest) -> dict[str, tuple[str, int]]:
    """(name of the port, number) of each flag that listens on TCP."""
    named = {"--listen": "grpc", "--admin": "metrics", "--health": "health"}
    found = {}
    for flag, name in named.items():
        if flag in flags(container) and (address := Address.parse(flags(container)[flag])).path is None:
            found[flag] = (name, address.port)
    return found


def ports_are_those_of_the_flags(objects: Objects) -> Iterator[str]:
    """Every port that is listened on is declared, and no other; it is reached from outside the Pod."""
    for _, container in routers(objects):
        declared = {(one["name"], one["containerPort"]) for one in container["ports"]}
        if declared != set(listeners(container).values()):
            yield f"ports {sorted(declared)}, listens on {sorted(listeners(container).values())}"
        for flag in listeners(container):
            if Address.parse(flags(container)[flag]).is_local:
                yield f"{flag} is loopback, which neither the node nor another Pod reaches"


def probes_ask_the_right_service_where_they_can(objects: Objects) -> Iterator[str]:
    """In plain gRPC over TCP, which is all that a node can."""
    for _, container in routers(objects):
        told = flags(container)
        plain = {"--health"} if "--tls-cert" in told else {"--health", "--listen"}
        ports = {port for flag, (_, port) in listeners(container).items() if flag in plain}
        asked = {"startupProbe": ("", SERVICES[0]), "livenessProbe": ("",), "readinessProbe": (SERVICES[0],)}
        for name, services in asked.items():
            probe = container.get(name, {}).get("grpc", {})
            if probe.get("port") not in ports:
                yield f"{name} on {probe.get('port')}, plain gRPC on {sorted(ports)}"
            if probe.get("service") not in services:
                yield f"{name} asks for {probe.get('service')!r}"
        patience = container["livenessProbe"]["periodSeconds"] * container["livenessProbe"]["failureThreshold"]
        if patience < number(container, "--drain-delay") + number(container, "--grace"):
            yield f"a server that drains is not alive after {patience} s"


def slept(container: Manifest) -> int:
    """The seconds before a container is told to end."""
    seconds: int = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    return seconds


def there_is_time_to_end(objects: Objects) -> Iterator[str]:
    """The grace of a Pod covers all that comes between its end being decided and the process being gone."""
    for workload, container in routers(objects):
        spec = template(workload)["spec"]
        beside = container.get("restartPolicy") == "Always"
        sleep = slept(container)
        needs = sleep + number(container, "--drain-delay") + number(container, "--grace") + FLUSH_S + 2
        if beside:  # its turn comes when the others have ended
            needs += max(slept(one) for one in spec["containers"])
        if needs > spec["terminationGracePeriodSeconds"]:
            yield f"needs {needs:g} s to end and has {spec['terminationGracePeriodSeconds']}"
        if not beside and not (sleep and number(container, "--drain-delay")):
            yield "its address is still known when it ends: no preStop, or no --drain-delay"
        if beside and sleep + number(container, "--drain-delay"):
            yield "waits for callers, and the only one has ended"


def store_of(container: Manifest) -> Any:
    """The URL in the manifest, or where it comes from."""
    for one in container.get("env", ()):
        if one["name"] == "ROUTER_SERVICE_STORE":
            return one.get("value", one.get("valueFrom"))
    return flags(container).get("--store")


def one_alone_has_the_file(objects: Objects) -> Iterator[str]:
    """On SQLite: never two, each of which would spend the whole budget; elsewhere a store that all share."""
    for workload, container in routers(objects):
        store = store_of(container)
        if not isinstance(store, str):
            if not store:
                yield "no store"
            continue
        if not store.startswith("sqlite:"):
            yield "a store's URL may have a password: take it from a Secret"
            continue
        if workload["spec"]["replicas"] != 1 or workload["spec"]["strategy"] != {"type": "Recreate"}:
            yield "several at once on one file"
        volume = volume_at(workload, container, urlsplit(store).path)
        claim = volume.get("persistentVolumeClaim", {}).get("claimName")
        modes = [
            one["spec"]["accessModes"]
            for one in objects
            if one["kind"] == "PersistentVolumeClaim" and one["metadata"]["name"] == claim
        ]
        if modes != [["ReadWriteOncePod"]]:
            yield f"the file is not on a volume of one Pod: {volume}"


def volume_at(workload: Manifest, container: Manifest, path: str) -> Any:
    """The volume that holds a path."""
    for mount in container["volumeMounts"]:
        if PurePosixPath(path).is_relative_to(mount["mountPath"]):
            volumes = template(workload)["spec"]["volumes"]
            return next(one for one in volumes if one["name"] == mount["name"])
    return {}


def files_are_where_flags_say(objects: Objects) -> Iterator[str]:
    """Folders, mounted whole, so that a change is followed; the rest of the file system is read-only."""
    read = ("--catalog", "--callers", "--tls-cert", "--tls-key", "--tls-client-ca")
    for workload, container in routers(objects):
        for flag, value in flags(container).items():
            if flag in read and not volume_at(workload, container, value):
                yield f"{flag}={value} is on no volume"
            if flag == "--listen" and value.startswith("unix:"):
                volume = volume_at(workload, container, value.removeprefix("unix:"))
                if "emptyDir" not in volume:
                    yield f"the socket is not in a folder that the Pod shares: {volume}"
        if any("subPath" in mount for mount in container["volumeMounts"]):
            yield "a file mounted by subPath does not follow a change"


def each_replica_can_go(objects: Objects) -> Iterator[str]:
    """Several replicas have a disruption budget, which lets one go and never all."""
    for workload, _ in routers(objects):
        budgets = [one for one in objects if one["kind"] == "PodDisruptionBudget" and selects(one, workload)]
        replicas = workload["spec"]["replicas"]
        if replicas > 1 and len(budgets) != 1:
            yield f"{replicas} replicas and {len(budgets)} disruption budgets"
        for one in budgets:
            most = one["spec"].get("maxUnavailable", replicas - one["spec"].get("minAvailable", 0))
            if not 1 <= most < max(replicas, 2):
                yield f"of {replicas} replicas {most} may go"


def selects(one: Manifest, workload: Manifest) -> bool:
    """Whether a Service, policy, budget or monitor is for the Pods of a workload."""
    selector = one["spec"].get("podSelector", one["spec"].get("selector"))
    wanted = selector.get("matchLabels", {}) if one["kind"] != "Service" else selector
    return bool(wanted.items() <= template(workload)["metadata"]["labels"].items())


def everything_selects_something(objects: Objects) -> Iterator[str]:
    """Services, policies, budgets and monitors have Pods, with the ports that they name; none takes all."""
    workloads = [one for one in objects if one["kind"] == "Deployment"]
    for one in objects:
        if one["kind"] not in ("Service", "NetworkPolicy", "PodDisruptionBudget", "PodMonitor"):
            continue
        chosen = [each for each in workloads if selects(one, each)]
        if not chosen or not (one["spec"].get("podSelector") or one["spec"].get("selector")):
            yield f"{one['kind']} {one['metadata']['name']} selects {len(chosen)} workloads, or whatever there is"
        there = {port["name"] for each in chosen for part in containers(each) for port in part.get("ports", ())}
        if unknown := named_ports(one) - there:
            yield f"{one['kind']} {one['metadata']['name']} names ports {sorted(unknown)}, there are {sorted(there)}"


def named_ports(one: Manifest) -> set[str]:
    """The ports that it names rather than numbers."""
    spec = one["spec"]
    rules = [port["port"] for rule in spec.get("ingress", ()) for port in rule.get("ports", ())]
    targets = [port.get("targetPort") for port in spec.get("ports", ())]
    scraped = [port["port"] for port in spec.get("podMetricsEndpoints", ())]
    return {port for port in (*rules, *targets, *scraped) if isinstance(port, str)}


def nobody_else_comes_in_or_goes_out(objects: Objects) -> Iterator[str]:
    """Every router is under a policy for both ways, which names whom it lets in and where it goes."""
    policies = [one for one in objects if one["kind"] == "NetworkPolicy"]
    for workload, container in routers(objects):
        mine = [one["spec"] for one in policies if selects(one, workload)]
        if not mine:
            yield f"{workload['metadata']['name']} is under no policy"
        for one in mine:
            if set(one["policyTypes"]) != {"Ingress", "Egress"}:
                yield f"only {one['policyTypes']}"
            for way, side in (("ingress", "from"), ("egress", "to")):
                for rule in one.get(way) or ():
                    if not (rule.get(side) and rule.get("ports")) or {} in rule[side]:
                        yield f"{way} for everybody or to every port: {rule}"
        if isinstance(store_of(container), dict) and not any(
            port["port"] == 6379 for one in mine for rule in one["egress"] for port in rule["ports"]
        ):
            yield "no way to the store"


def containers_can_do_little(objects: Objects) -> Iterator[str]:
    """Beyond what the Pod Security Standard asks: read-only, no token, no Service links, bounded memory, a version."""
    for workload in (one for one in objects if one["kind"] == "Deployment"):
        spec, name = template(workload)["spec"], workload["metadata"]["name"]
        if spec.get("automountServiceAccountToken") is not False:
            yield f"{name} has a token"
        if spec.get("enableServiceLinks") is not False:
            yield f"{name} gets variables of every Service, ROUTER_SERVICE_PORT among them"
        for container in containers(workload):
            if not container["securityContext"].get("readOnlyRootFilesystem"):
                yield f"{container['name']} can write to its root"
            resources = container.get("resources", {})
            if not (
                {"cpu", "memory"} <= set(resources.get("requests", ())) and "memory" in resources.get("limits", ())
            ):
                yield f"{container['name']} asks for no memory or processor time, or has no bound of memory"
            if not re.fullmatch(r"[^:]+:v?\d+\.\d+\.\d+(@sha256:[0-9a-f]{64})?", container["image"]):
                yield f"{container['image']} is no version"
    for _, container in routers(objects):
        if container["image"].rpartition(":")[2] != router_service.__version__:
            yield f"{container['image']} is not version {router_service.__version__}"


def secrets_are_not_in_here(objects: Objects) -> Iterator[str]:
    """They are made by whoever has them, and named here."""
    yield from (f"Secret {one['metadata']['name']}" for one in objects if one["kind"] == "Secret")


RULES: dict[str, Callable[[Objects], Iterator[str]]] = {
    one.__name__.replace("_", " "): one
    for one in (
        arguments_are_the_commands_own,
        ports_are_those_of_the_flags,
        probes_ask_the_right_service_where_they_can,
        there_is_time_to_end,
        one_alone_has_the_file,
        files_are_where_flags_say,
        each_replica_can_go,
        everything_selects_something,
        nobody_else_comes_in_or_goes_out,
        containers_can_do_little,
        secrets_are_not_in_here,
    )
}
