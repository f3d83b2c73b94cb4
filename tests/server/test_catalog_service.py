"""ListEndpoints, ListPolicies, WatchCatalog, and reloads with the last good version kept."""

from __future__ import annotations

import signal
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from router_service.v1 import catalog_service_pb2 as pb
from router_service.v1 import router_service_pb2
from tests.server.conftest import CATALOG, ServerProcess

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def _health(server: ServerProcess, name: str) -> int:
    stub = health_pb2_grpc.HealthStub(server.channel())
    return int(stub.Check(health_pb2.HealthCheckRequest(service=name)).status)


def _version(server: ServerProcess) -> str:
    return str(server.catalog.ListPolicies(pb.ListPoliciesRequest()).catalog_version)


def test_pages_of_endpoints_join_to_all_of_them(server: ServerProcess) -> None:
    whole = server.catalog.ListEndpoints(pb.ListEndpointsRequest(page_size=1000))
    ids = [one.endpoint.endpoint_id for one in whole.endpoints]
    assert ids == sorted(ids, key=str.encode)
    assert len(ids) > 40
    assert not whole.next_page_token
    joined, token = [], ""
    for _ in range(100):
        page = server.catalog.ListEndpoints(pb.ListEndpointsRequest(page_size=7, page_token=token))
        joined += [one.endpoint.endpoint_id for one in page.endpoints]
        token = page.next_page_token
        if not token:
            break
    assert joined == ids


def test_policies_are_listed_with_the_default(server: ServerProcess) -> None:
    page = server.catalog.ListPolicies(pb.ListPoliciesRequest())
    assert page.default_policy == "eu-hosted"
    assert [one.policy_id for one in page.policies] == ["cost-controlled", "eu-hosted", "eu-owned-strict", "global"]


@pytest.mark.parametrize("token", ["@@@", "bm90IHV0Zjg=x", "_w=="])
def test_a_page_token_of_somebody_elses_is_refused(server: ServerProcess, token: str) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        server.catalog.ListEndpoints(pb.ListEndpointsRequest(page_size=5000, page_token=token))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "page_size" in str(caught.value.details())
    assert "page_token" in str(caught.value.details())


def test_a_change_serves_and_a_bad_file_keeps_the_last_good_version(
    serve: Callable[..., ServerProcess], catalog_file: Path
) -> None:
    server = serve("--catalog", str(catalog_file), "--admin", "127.0.0.1:0")
    admin = server.wait_for(r'"address":"([^"]+)"')[1]
    watch = server.catalog.WatchCatalog(pb.WatchCatalogRequest())
    first = next(watch)
    assert (first.endpoints, first.policies, first.currency) == (3, 2, "EUR")

    catalog_file.write_text(CATALOG.replace("residency: [eu-hosted, global]", "residency: [global]"))
    second = next(watch)
    assert second.catalog_version != first.catalog_version
    assert _version(server) == second.catalog_version

    catalog_file.write_text(CATALOG.replace("sovereignty: global", "sovereignty: eu-owned"))
    line = server.wait_for("catalogue rejected").string
    assert "catalog.yaml:9" in line
    assert _version(server) == second.catalog_version
    assert server.router.Decide(router_service_pb2.DecideRequest()).HasField("decision")
    assert _health(server, "catalog") == NOT_SERVING
    assert _health(server, "") == _health(server, "router_service.v1.RouterService") == SERVING
    with urllib.request.urlopen(f"http://{admin}/metrics") as page:
        metrics = page.read().decode()
    assert 'router_catalog_loads_total{outcome="rejected"} 1.0' in metrics
    assert "router_catalog_rejected 1.0" in metrics

    # A file that is replaced, as editors and ConfigMaps do it, is a change like any other.
    new = catalog_file.with_name("new.tmp")
    new.write_text(CATALOG)
    new.replace(catalog_file)
    third = next(watch)
    assert third.catalog_version == first.catalog_version
    assert _health(server, "catalog") == SERVING
    watch.cancel()


def test_sighup_loads_and_an_unchanged_catalogue_is_no_new_version(
    serve: Callable[..., ServerProcess], catalog_file: Path
) -> None:
    server = serve("--catalog", str(catalog_file))
    before = _version(server)
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("catalogue unchanged")
    assert _version(server) == before


def test_a_configmap_that_switches_its_links_is_seen(serve: Callable[..., ServerProcess], tmp_path: Path) -> None:
    for number, text in enumerate((CATALOG, CATALOG.replace("default_policy: eu", "default_policy: world"))):
        (tmp_path / f"..{number}").mkdir()
        (tmp_path / f"..{number}" / "catalog.yaml").write_text(text)
    (tmp_path / "..data").symlink_to("..0")
    (tmp_path / "catalog.yaml").symlink_to("..data/catalog.yaml")
    server = serve("--catalog", str(tmp_path))
    watch = server.catalog.WatchCatalog(pb.WatchCatalogRequest())
    assert next(watch).default_policy == "eu"
    (tmp_path / "..data_tmp").symlink_to("..1")
    (tmp_path / "..data_tmp").replace(tmp_path / "..data")
    assert next(watch).default_policy == "world"
    watch.cancel()


def test_decisions_go_on_through_reloads(serve: Callable[..., ServerProcess], catalog_file: Path) -> None:
    server = serve("--catalog", str(catalog_file))
    router, failures, versions, stop = server.router, [], set(), threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                versions.add(router.Decide(router_service_pb2.DecideRequest()).decision.catalog_version)
            except grpc.RpcError as error:
                failures.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    seen = [_version(server)]
    for number in range(3):
        catalog_file.write_text(CATALOG.replace("8192", str(9000 + number)))
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("catalogue loaded", after=len(server.lines))
        seen.append(_version(server))
    stop.set()
    asking.join()
    assert not failures
    assert len(set(seen)) == 4
    assert versions <= set(seen)


def test_an_unknown_admin_page_and_method(serve: Callable[..., ServerProcess], catalog_file: Path) -> None:
    server = serve("--catalog", str(catalog_file), "--admin", "127.0.0.1:0")
    admin = server.wait_for(r'"address":"([^"]+)"')[1]
    server.wait_for("listening on")
    with urllib.request.urlopen(f"http://{admin}/healthz") as page:
        assert page.read() == b"SERVING\n"
    for path, method, status in (("/nothing", "GET", 404), ("/healthz", "POST", 405)):
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(urllib.request.Request(f"http://{admin}{path}", method=method))
        assert caught.value.code == status
        caught.value.close()
