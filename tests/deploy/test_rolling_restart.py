"""A rolling restart under load loses no request: of two instances one is drained and replaced at a time."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.balancer import Balancer
from tests.deploy.gateway import ANSWERED, Backends, Clients, Gateway
from tests.deploy.kubernetes import ROOT, overlays, routers
from tests.deploy.kubernetes_rules import flags
from tests.deploy.rolling import DECIDED, Instances, Load, Service

REQUESTS, FEWER_REQUESTS = 20_000, 5_000
PAGE = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
# What the page has clients say: through the Service, and to all replicas behind the headless one.
THROUGH_SERVICE, TO_REPLICAS = (json.loads(one) for one in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))


def told(config: Any) -> list[tuple[str, Any]]:
    """The options of a channel with a service config."""
    return [("grpc.service_config", json.dumps(config))]


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[Instances]:
    """With the manifest's own --drain-delay and --grace."""
    ((_, container),) = routers(overlays()["redis"].objects)
    ending = (f"{name}={flags(container)[name]}" for name in ("--drain-delay", "--grace"))
    two = Instances(folder, *ending, *arguments)
    try:
        assert all(one.target for one in two.running.values())
        yield two
    finally:
        two.kill()


@pytest.fixture
def instances(tmp_path: Path) -> Iterator[Instances]:
    with started(tmp_path) as two:
        yield two


def lost(load: Load | Clients, begun: Counter[str]) -> dict[str, int]:
    """How often what ended otherwise than in a decision or an answer, since `begun`."""
    return {how: count for how, count in (load.ended - begun).items() if how not in (DECIDED, ANSWERED)}


def test_behind_envoy_not_one_of_twenty_thousand_is_lost(tmp_path: Path, instances: Instances) -> None:
    """Envoy asks for health itself, and neither it nor the client tries anything again."""
    with (
        Balancer(tmp_path, instances.ports) as balancer,
        Load(balancer.target, [("grpc.enable_retries", 0)]) as load,
    ):
        balancer.wait_for(set(instances.ports))
        begun = load.ended.copy()  # before any instance was called healthy, calls may fail
        for port in instances.ports * 2:
            instances.replace(port)
            balancer.wait_for(set(instances.ports))
        load.wait_for(lambda ended: ended[DECIDED] - begun[DECIDED] >= REQUESTS)
        assert lost(load, begun) == {}
        instances.kill()  # that a loss would be seen
        load.wait_for(lambda _: bool(lost(load, begun)))


@pytest.mark.parametrize("ending", [(), ("--drain-delay", "0")], ids=["as the manifests have it", "at once"])
def test_behind_envoys_doors_not_one_is_lost(tmp_path: Path, ending: tuple[str, ...]) -> None:
    """A gateway as the tool prints it asks the instances before each request that goes on to a provider.

    One that ends at once refuses before Envoy knows it: then another is asked.
    """
    with (
        Backends(tmp_path) as backends,
        started(tmp_path, "--catalog", str(backends.catalog), "--envoy-authz", *ending) as instances,
        Gateway(tmp_path, backends, instances.ports) as gateway,
    ):
        gateway.wait_for(set(instances.ports))
        with Clients(gateway.port) as clients:
            for port in instances.ports:
                instances.replace(port)
                gateway.wait_for(set(instances.ports))
            clients.wait_for(lambda ended: ended[ANSWERED] >= FEWER_REQUESTS)
            assert lost(clients, Counter()) == {}
            assert len(backends.providers.saw()) >= clients.ended[ANSWERED]
            instances.kill()  # that a loss would be seen
            clients.wait_for(lambda _: bool(lost(clients, Counter())))


def test_a_client_of_all_replicas_loses_none(instances: Instances) -> None:
    """It spreads its calls and watches health, as docs/kubernetes.md has it for the headless Service."""
    with Load(f"ipv4:{','.join(f'127.0.0.1:{port}' for port in instances.ports)}", told(TO_REPLICAS)) as load:
        for port in instances.ports:
            instances.replace(port)
        load.wait_for(lambda ended: ended[DECIDED] >= FEWER_REQUESTS)
        assert lost(load, Counter()) == {}


def test_a_client_of_the_service_loses_none(instances: Instances) -> None:
    """It has one connection, knows nothing of health, and tries again what was refused."""
    ready = set(instances.ports)
    with Service(ready) as service, Load(service.target, told(THROUGH_SERVICE)) as load:
        for port in instances.ports:
            ready.discard(port)  # as soon as its end is decided; what is connected stays
            instances.replace(port)
            ready.add(port)
        load.wait_for(lambda ended: ended[DECIDED] >= FEWER_REQUESTS)
        assert lost(load, Counter()) == {}
