"""`router-service envoy`: what it prints is valid, serves, and is complete; what makes no sense is told at once."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from router_service.catalog.load import load
from router_service.catalog.snapshot import Snapshot
from router_service.domain.words import ROUTABLE_STATUSES
from router_service.engine.bits import positions
from router_service.engine.filters import admitted
from tests.envoy.proxy import ENVOY, Envoy
from tests.envoy.world import World, listed, printed, until, write_credential

ROOT = Path(__file__).resolve().parents[2]
ROUTER = Path(sys.executable).with_name("router-service")
EXAMPLE = ROOT / "router_service" / "catalog" / "example.yaml"
SAMPLE = ROOT / "deploy" / "envoy" / "envoy.yaml"
SAMPLE_ARGUMENTS = ("--policy", "eu-hosted", "--workload", "invoices")


def clusters(config: str) -> dict[str, Any]:
    return {one["name"]: one for one in yaml.safe_load(config)["static_resources"]["clusters"]}


def files_of(config: str) -> list[str]:
    """The credentials that the heading of a configuration asks for."""
    return re.findall(r"^#   (\S+)\.yaml ", config, re.MULTILINE)


def validate(config: str, folder: Path) -> str:
    """What `envoy --mode validate` says; empty where it is content."""
    (folder / "checked.yaml").write_text(config)
    run = subprocess.run(
        [ENVOY, "--mode", "validate", "-c", folder / "checked.yaml", "-l", "error"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return "" if run.returncode == 0 else run.stdout + run.stderr


@pytest.fixture(scope="module")
def example() -> Snapshot:
    return Snapshot.of(load(EXAMPLE), 0)


@pytest.fixture(scope="module")
def reachable(example: Snapshot) -> list[str]:
    """The endpoints of the example that some policy admits."""
    bits = 0
    for policy in example.policies.values():
        bits |= admitted(example.recorded, example.recorded.sets_of(policy))
    return [example.recorded.endpoints[position].endpoint_id for position in positions(bits)]


def test_the_examples_configuration_is_valid_and_has_every_endpoint_that_a_policy_admits(
    tmp_path: Path, reachable: list[str]
) -> None:
    config = printed("--credentials", str(tmp_path))
    for name in files_of(config):
        write_credential(tmp_path, name, "Bearer x")
    assert validate(config, tmp_path) == ""
    found = clusters(config)
    assert set(found) == {*reachable, "(deny)", "(router-service)"}
    assert not found["(deny)"]["load_assignment"].get("endpoints")
    context = re.search(r"^ *clusters: (.*)$", config, re.MULTILINE)
    assert context is not None
    assert sorted(context[1].split(",")) == sorted(reachable)


def test_validation_can_fail(tmp_path: Path) -> None:
    config = printed("--credentials", str(tmp_path))
    assert "does not exist" in validate(config, tmp_path)  # its credentials are not there


def test_none_of_envoys_own_limits_ends_a_request(reachable: list[str]) -> None:
    found = clusters(printed())
    for name in ("(router-service)", *reachable):
        (limits,) = found[name]["circuit_breakers"]["thresholds"]
        assert limits == dict.fromkeys(
            ("max_connections", "max_pending_requests", "max_requests", "max_retries"), 100_000
        )


def test_no_secret_is_in_it_and_every_provider_is_checked_by_name(reachable: list[str]) -> None:
    config = printed()
    assert "inline_string: Bearer" not in re.sub(r"^#.*$", "", config, flags=re.MULTILINE)
    for name, cluster in clusters(config).items():
        if name in reachable:
            tls = cluster["transport_socket"]["typed_config"]
            assert (tls["auto_host_sni"], tls["auto_sni_san_validation"]) == (True, True)
            assert tls["common_tls_context"]["validation_context"]["trusted_ca"]["filename"]


class ExampleWorld(World):
    """The bundled example, whose hosts are all on this machine: an overlay gives each an address of its own."""

    def __init__(self, folder: Path, reachable: list[str]) -> None:
        self.ids = {f"p{number}": endpoint_id for number, endpoint_id in enumerate(reachable)}
        super().__init__(folder, "", tuple(self.ids))
        self.catalog = folder / "catalog"
        self.catalog.mkdir()
        (self.catalog / "10-example.yaml").write_text(EXAMPLE.read_text())
        overlay = [
            {"endpoint_id": endpoint_id, "address": f"https://{name}.localhost:{self.providers[name].port}/v1"}
            for name, endpoint_id in self.ids.items()
        ]
        (self.catalog / "20-here.yaml").write_text(yaml.safe_dump({"endpoints": overlay}))


@pytest.fixture(scope="module")
def example_world(tmp_path_factory: pytest.TempPathFactory, reachable: list[str]) -> Iterator[ExampleWorld]:
    world = ExampleWorld(tmp_path_factory.mktemp("example"), reachable)
    try:
        world.serve()
        envoy = world.start_envoy(world.print(policies=("global",)))
        until(lambda: envoy.post().status == 200)
        yield world
    finally:
        world.close()


def test_the_example_serves_each_model_from_an_endpoint_that_its_decision_lists(
    example_world: ExampleWorld, example: Snapshot, reachable: list[str]
) -> None:
    envoy = example_world.envoy
    assert envoy is not None
    endpoints = {one.endpoint_id: one for one in example.recorded.endpoints}
    models = {endpoints[one].model for one in reachable if endpoints[one].status in ROUTABLE_STATUSES}
    for model in sorted(models):
        example_world.providers.reset()
        got = envoy.post({"model": model})
        assert got.status == 200, (model, got)
        (seen,) = example_world.providers.saw()
        endpoint_id = example_world.ids[seen.provider]
        trace = example_world.trace(got.headers["x-router-trace-id"])
        assert (listed(trace)[0], endpoints[endpoint_id].model) == (endpoint_id, model)
        assert seen.json["model"] == (endpoints[endpoint_id].upstream_model or model)
        assert seen.headers.get("authorization") or seen.headers.get("api-key")


def test_a_policys_configuration_has_what_that_policy_admits_and_no_more(example: Snapshot) -> None:
    config = printed("--policy", "eu-owned-strict", "--policy", "eu-hosted")
    bits = 0
    for policy_id in ("eu-owned-strict", "eu-hosted"):
        bits |= admitted(example.recorded, example.recorded.sets_of(example.policies[policy_id]))
    expected = {example.recorded.endpoints[position].endpoint_id for position in positions(bits)}
    assert set(clusters(config)) - {"(deny)", "(router-service)"} == expected
    context = yaml.safe_load(config)["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]
    route = context["typed_config"]["route_config"]["virtual_hosts"][0]["routes"][0]
    said = route["typed_per_filter_config"]["envoy.filters.http.ext_authz"]["check_settings"]["context_extensions"]
    assert (said["policy"], said["policies"]) == ("eu-owned-strict", "eu-hosted")


def test_the_sample_is_what_the_tool_prints() -> None:
    assert SAMPLE.read_text("utf-8") == printed(*SAMPLE_ARGUMENTS), "print it again: see deploy/envoy/README.md"


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(
        "currency: EUR\ndefault_policy: eu\nmodels: [{model: m}]\nendpoints:\n"
        '- {endpoint_id: "a,b", model: m, country: FR, sovereignty: eu-owned, address: "https://a.eu"}\n'
        '- {endpoint_id: c, model: m, country: FR, sovereignty: eu-owned, address: "https://c.eu",\n'
        "   upstream_model: mé}\n"
        "- {endpoint_id: d, model: m, country: FR, sovereignty: eu-owned}\n"
        "- {endpoint_id: e, model: m, country: FR, sovereignty: eu-owned}\n"
        '- {endpoint_id: f, model: m, country: FR, sovereignty: eu-owned, address: "https://10.0.0.7/v1"}\n'
        "policies: [{policy_id: eu}]\n"
    )
    wrong = (
        "--envoy-admin",
        "0.0.0.0:80",
        "--tls-cert",
        "x.pem",
        "--service-cert",
        "y.pem",
        "--credential-header",
        "a.eu",
    )
    said = printed(str(catalog), *wrong, fails=True)
    for told in (
        "--envoy-admin: plain HTTP at 0.0.0.0:80 shows everything to the network; listen on 127.0.0.1",
        "--tls: a certificate and its key go together",
        "--service: a certificate and its key go together",
        '--credential-header: "a.eu" is no pair',
        "endpoints[a,b]: its id can be no cluster's name here",
        "endpoints[c].upstream_model: it holds more than printable ASCII",
        "endpoints[d].address: missing",
        "endpoints[e].address: missing",
        "endpoints[f].address: a certificate is checked by a name",
    ):
        assert told in said, said
    named = printed(str(catalog), "--policy", "eus", "--workload", "chat", fails=True)
    assert '--policy: the catalogue has no "eus"; did you mean eu?' in named
    assert '--workload: the catalogue has no "chat"; there are none' in named


def test_a_catalogue_with_problems_is_told_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text('currency: EUR\nendpoints: [{endpoint_id: a, model: m, address: "ftp://x"}]\n')
    said = printed(str(tmp_path / "c.yaml"), fails=True)
    assert "c.yaml:2: endpoints[a].address" in said


def test_endpoints_without_an_address_may_be_left_out_and_are_told(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(
        "currency: EUR\ndefault_policy: eu\nmodels: [{model: m}]\nendpoints:\n"
        '- {endpoint_id: a, model: m, country: FR, sovereignty: eu-owned, address: "http://10.0.0.7:8000/v1"}\n'
        "- {endpoint_id: b, model: m, country: FR, sovereignty: eu-owned}\n"
        "policies: [{policy_id: eu}]\n"
    )
    arguments = ("envoy", str(catalog), "--partial", "--open", "10.0.0.7_8000")
    run = subprocess.run([ROUTER, *arguments], capture_output=True, text=True, timeout=60, check=True)
    assert "left out, since it has no address: b" in run.stderr
    assert validate(run.stdout, tmp_path) == ""
    cluster = clusters(run.stdout)["a"]
    assert (cluster["type"], "transport_socket" in cluster) == ("STATIC", False)
    assert "credential" not in yaml.safe_dump(cluster)


def test_the_credential_header_of_a_host_can_be_chosen() -> None:
    config = printed("--credential-header", "api.mistral.*=X-Key", "--open", "api.scaleway.ai")
    found = clusters(config)
    header = 'header: "?{}"?'.format
    assert re.search(header("x-key"), yaml.safe_dump(found["mistral-large@mistral/eu"]))
    assert re.search(header("api-key"), yaml.safe_dump(found["gpt-4o@azure/swedencentral"]))
    assert re.search(header("authorization"), yaml.safe_dump(found["gpt-oss-120b@groq"]))
    assert "api.scaleway.ai.yaml" not in config
    assert "api.mistral.ai.yaml   (x-key)" in config


def test_tls_on_every_side(own_world: World) -> None:
    """Clients to Envoy, Envoy to the service with a certificate of its own, and Envoy to providers."""
    world = own_world
    cert, key = world.issue("localhost", "edge")
    mine, mine_key = world.issue("envoy.example", "caller")
    callers = world.folder / "callers.yaml"
    callers.write_text(
        "callers:\n- {caller: edge, sans: [envoy.example], roles: [decide, report, read], policies: ['*']}\n"
    )
    flags = ("--tls-cert", str(cert), "--tls-key", str(key), "--tls-client-ca", str(world.ca))
    server = world.serve(*flags, "--callers", str(callers), listen="mtls:localhost:0")
    config = world.print(
        *("--tls-cert", str(cert), "--tls-key", str(key), "--service-ca", str(world.ca)),
        *("--service-cert", str(mine), "--service-key", str(mine_key)),
        service=server.target,
    )
    envoy: Envoy = world.start_envoy(config)
    got = envoy.until(lambda got: got.status == 200, ca=world.ca)
    assert got.json == {"from": "alpha"}
