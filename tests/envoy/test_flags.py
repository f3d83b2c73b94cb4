"""The flags of `router-service envoy`: what makes no sense is told with its cure, and all else is valid to Envoy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from router_service.cli import main
from tests.envoy.test_configuration import clusters, files_of, validate
from tests.envoy.world import OURS, printed, write_credential

CATALOG = """\
currency: EUR
default_policy: eu
models: [{model: meta/Llama-3.1-70B.Instruct:free}]
endpoints:
- {endpoint_id: a, model: meta/Llama-3.1-70B.Instruct:free, country: FR, sovereignty: eu-owned,
   address: "https://My-Res.openai.azure.com/openai/v1", upstream_model: 'a%20"b\\c'}
- {endpoint_id: b, model: meta/Llama-3.1-70B.Instruct:free, country: FR, sovereignty: eu-owned,
   address: "http://[fd00::1]:8000"}
- {endpoint_id: c Ω, model: meta/Llama-3.1-70B.Instruct:free, country: FR, sovereignty: eu-owned,
   address: "http://[fd00::1:8000]"}
- {endpoint_id: d/e, model: meta/Llama-3.1-70B.Instruct:free, country: FR, sovereignty: eu-owned,
   address: "http://10.0.0.7:8000/$&'()*+,;=:@%20x"}
policies: [{policy_id: eu}]
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    path = tmp_path / "catalog.yaml"
    path.write_text(CATALOG)
    return path


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--listen", "localhost:10000"), "--listen: Envoy listens on no name (localhost); write an IP address"),
        (("--listen", "edge.example:80", "--insecure"), "--listen: Envoy listens on no name (edge.example)"),
        (("--listen", "10000"), '--listen: "10000" is no place; write HOST:PORT'),
        (("--listen", "[::g]:80"), '--listen: "[::g]:80" is no place'),
        (("--listen", "tls:127.0.0.1:80"), '--listen: "tls:127.0.0.1:80" is no place'),
        (("--listen", "0.0.0.0:80"), "0.0.0.0:80 shows everything to the network; give --tls-cert and --tls-key"),
        (("--envoy-admin", "localhost:9901"), "--envoy-admin: Envoy listens on no name (localhost)"),
        (("--service", "router.svc:50051"), "shows every request to the network; give --service-ca"),
        (("--service", "a b:50051"), '--service: "a b:50051" is no place'),
        (("--service", "127.0.0.1:0"), "--service: nobody is reached at port 0"),
        (("--service", "127.0.0.1:50051", "--service-ca", "x"), "--service: a certificate is checked by a name"),
        (("--attempt-timeout", "1e12"), "1000000000000.0 is not in the range 0.001<=x<=86400.0"),
        (("--decision-timeout", "0"), "0.0 is not in the range 0.001<=x<=86400.0"),
        (("--access-log", ""), "--access-log: it is empty; write a path, or leave the flag out"),
        (("--credentials", " "), "--credentials: it is empty"),
        (("--ca", ""), "--ca: it is empty"),
        (("--tls-cert", "", "--tls-key", ""), "--tls-cert: it is empty"),
        (("--service-ca", ""), "--service-ca: it is empty"),
        (("--open", "My-Res.openai.azure.com"), "did you mean my-res.openai.azure.com?"),
        (("--open", "10.0.0.7:8000"), '--open: the catalogue has no host "10.0.0.7:8000"; did you mean 10.0.0.7_8000?'),
        (("--credential-header", "nobody.eu=x-key"), '--credential-header: "nobody.eu" is no host of the catalogue'),
        (("--credential-header", "*=x key"), '--credential-header: "x key" is no name of a header'),
        (("--credential-header", "*=host"), "--credential-header: host carries no credential to a provider"),
        (("--credential-header", "*=x-router-key"), "--credential-header: x-router-key carries no credential"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_told_with_its_cure(catalog: Path, flags: tuple[str, ...], told: str) -> None:
    assert told in printed(str(catalog), *flags, fails=True)


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--listen", "[::]:10000", "--insecure", "--service", "unix:/run/router.sock"),
        ("--listen", "unix:/run/edge.sock", "--envoy-admin", "unix:/run/admin.sock", "--service", "[::1]:50051"),
        ("--listen", "127.0.0.1:0", "--service", "router.svc:50051", "--insecure", "--no-replay"),
        ("--attempt-timeout", "86399.123", "--decision-timeout", "0.0015", "--body-limit", "1073741824"),
        ("--open", "fd00__1_8000", "--credential-header", "*.AZURE.com=X-Key", "--credential-header", "*=x-goog-key"),
    ],
)
def test_all_else_is_valid_to_envoy(catalog: Path, tmp_path: Path, flags: tuple[str, ...]) -> None:
    config = printed(str(catalog), "--credentials", str(tmp_path), *flags)
    for name in files_of(config):
        write_credential(tmp_path, name, "Bearer x")
    assert validate(config, tmp_path) == ""


def test_a_catalogue_without_a_default_policy_takes_one_by_flag(catalog: Path) -> None:
    catalog.write_text(CATALOG.replace("default_policy: eu\n", ""))
    assert "--policy: missing, and the catalogue has no default_policy" in printed(str(catalog), fails=True)
    assert "policy: eu\n" in printed(str(catalog), "--policy", "eu")


@pytest.mark.parametrize(
    ("count", "length", "told"),
    [
        (1000, 40, ""),
        (1001, 8, "endpoints: 1001 are too many for one Envoy; choose by --policy"),
        (300, 200, "endpoints: their ids have 60300 bytes, too many for one Envoy; choose by --policy"),
    ],
)
def test_a_list_of_clusters_that_no_question_could_hold_is_told(
    catalog: Path, count: int, length: int, told: str
) -> None:
    endpoints = [
        {"endpoint_id": f"{number:0{length}}", "model": "m", "country": "FR", "sovereignty": "eu-owned",
         "address": "http://10.0.0.7"}
        for number in range(count)
    ]  # fmt: skip
    written = {"currency": "EUR", "default_policy": "eu", "models": [{"model": "m"}], "endpoints": endpoints}
    catalog.write_text(yaml.safe_dump({**written, "policies": [{"policy_id": "eu"}]}))
    said = printed(str(catalog), "--open", "10.0.0.7", fails=bool(told))
    assert told in said


def test_time_outs_are_told_in_full(catalog: Path) -> None:
    config = printed(str(catalog), "--attempt-timeout", "86399.123", "--decision-timeout", "0.0015")
    assert "per_try_timeout: 86399.123s" in config
    assert "timeout: 0.0015s" in config


def test_no_two_hosts_share_a_credential(catalog: Path) -> None:
    assert files_of(printed(str(catalog))) == [
        "10.0.0.7_8000",
        "fd00__1_8000",
        "fd00__1_8000_80",
        "my-res.openai.azure.com",
    ]


def test_a_header_that_is_chosen_goes_before_the_known_one_and_no_client_fills_it(catalog: Path) -> None:
    chosen = ("--credential-header", "MY-RES.openai.azure.com=X-Key", "--credential-header", "10.*=x-other")
    config = printed(str(catalog), *chosen)
    assert "my-res.openai.azure.com.yaml   (x-key)" in config
    assert "10.0.0.7_8000.yaml   (x-other)" in config
    assert "header: x-key" in yaml.safe_dump(clusters(config)["a"])
    listener: Any = yaml.safe_load(config)["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]
    (route,) = listener["typed_config"]["route_config"]["virtual_hosts"][0]["routes"]
    assert {"authorization", "api-key", "x-key", "x-other"} <= set(route["request_headers_to_remove"])


def test_variables_of_the_service_say_nothing_of_envoy(catalog: Path) -> None:
    of_service = {"LISTEN": "0.0.0.0:50051", "TLS_CERT": "cert.pem", "TLS_KEY": "key.pem", "ENVOY_AUTHZ": "1"}
    said = {f"ROUTER_SERVICE_{name}": value for name, value in of_service.items()}
    own = {"ROUTER_SERVICE_ENVOY_LISTEN": "127.0.0.1:10001", "ROUTER_SERVICE_ENVOY_ADMIN": "127.0.0.1:9901"}

    def run(env: dict[str, str]) -> str:
        ran = CliRunner(env=dict.fromkeys(OURS) | env).invoke(main, ["envoy", str(catalog)])
        assert ran.exit_code == 0, ran.output
        return ran.stdout

    assert run(said) == run({})
    found = yaml.safe_load(run(said | own))
    assert found["static_resources"]["listeners"][0]["address"]["socket_address"]["port_value"] == 10001
    assert found["admin"]["address"]["socket_address"]["port_value"] == 9901
