"""The Pods run as the manifests say: as their user, on a read-only root, with their volumes and their probes."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.callers.files import entry, token_of
from tests.deploy.kubernetes import Built, Manifest, build, containers, copied, overlays, routers
from tests.deploy.pods import PATIENCE_S, Pod, need_namespaces
from tests.server.identity.secured import AUTHORITY
from tests.store.redis_server import RedisServer

SOCKET = "unix:/run/router-service/router.sock"
POST = """
import http.client, json, sys
one = http.client.HTTPConnection("127.0.0.1", 10000, timeout=30)
one.request("POST", "/v1/chat/completions", json.dumps({"model": sys.argv[1]}), {"content-type": "application/json"})
answer = one.getresponse()
print(answer.status, answer.read().decode(), sep="\\n")
"""
UNHEALTHY = 4  # grpc-health-probe: it answers, and the answer is no

pytestmark = pytest.mark.usefixtures("namespaces")


@pytest.fixture(scope="module")
def namespaces() -> None:
    need_namespaces()


@pytest.fixture(scope="module")
def identified(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """One on SQLite that speaks TLS and knows its callers."""
    own = "resources: [../overlays/sqlite]\ncomponents: [../components/identity]\n"
    return build(copied(tmp_path_factory.mktemp("own"), own))[0]


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """The URL of a Redis on a socket, which is reached from any network."""
    folder = tmp_path / "redis"
    folder.mkdir(mode=0o755)
    server = RedisServer(folder, socket=True)
    server.start()
    (folder / "socket").chmod(0o666)
    yield f"unix://{folder}/socket?db=0"
    server.stop()


def catalog_of(built: Built) -> dict[str, str]:
    files: dict[str, str] = built.only("ConfigMap", "router-service-catalog")["data"]
    return files


def pod_of(built: Built, folder: Path, **more: Any) -> tuple[Pod, Manifest]:
    """The Pod of the router's workload, and the router in it."""
    ((workload, router),) = routers(built.objects)
    (folder / "pod").mkdir()
    files = {one["metadata"]["name"]: one["data"] for one in built.of("ConfigMap")} | more.pop("files", {})
    return Pod(workload, folder / "pod", files, **more), router


def decide(pod: Pod, container: Manifest, *flags: str) -> dict[str, Any]:
    """What it decides for somebody in the same Pod."""
    done = pod.ask(container, "router-service", "decide", *flags, "--output", "json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def credential(host: str) -> str:
    """A credential as Envoy reads it."""
    kind = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"
    secret = {"@type": kind, "name": host, "generic_secret": {"secret": {"inline_string": "Bearer example"}}}
    return json.dumps({"resources": [secret]})


def callers(caller: str) -> dict[str, str]:
    """The files of a Secret that knows one caller, by its token."""
    entries = f"callers: [{{caller: {caller}, roles: [decide], policies: [eu]}}]\ntokens:\n"
    return {"callers.yaml": entries + entry(caller)}


def until(holds: Callable[[], bool], pod: Pod) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, pod.log()[-4000:]
        time.sleep(0.1)


def test_replicas_on_redis_serve_probe_follow_the_configmap_and_end_in_time(tmp_path: Path, redis: str) -> None:
    built = overlays()["redis"]
    store = {"router-service-store": {"url": redis}}
    pod, router = pod_of(built, tmp_path, files=store, extra=(tmp_path / "redis",))
    with pod.running():
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            pod.wait_for(probe, router)
        server = ("--server", "127.0.0.1:50051")
        before = decide(pod, router, *server)
        assert before["decision"]["candidates"]
        text = catalog_of(built)["catalog.yaml"]
        pod.update("catalog", {"catalog.yaml": text.replace("default_policy: eu", "default_policy: strict")})
        until(lambda: decide(pod, router, *server)["decision"]["policy_id"] == "strict", pod)
        after = decide(pod, router, *server)
        assert after["decision"]["catalog_version"] != before["decision"]["catalog_version"]
        traces = pod.ask(router, "router-service", "trace", "list", *server, "--output", "json")
        assert before["decision"]["trace_id"] in traces.stdout, traces.stderr
        assert pod.end("router-service") == 0
        assert pod.probe("readinessProbe", router) not in (0, UNHEALTHY)


def test_the_root_is_read_only_and_the_user_nobody(tmp_path: Path) -> None:
    """That the Pods below run is told of something that holds them."""
    pod, router = pod_of(overlays()["sqlite"], tmp_path, claims={"router-service-data": tmp_path / "claim"})
    with pod.running():
        for path in ("/new", "/etc/router-service/catalog/new", "/usr/new", "/run/new"):
            assert pod.ask(router, "touch", path).returncode != 0, path
        assert pod.ask(router, "touch", "/var/lib/router-service/new").returncode == 0
        assert pod.ask(router, "id", "--user").stdout.strip() == "65532"
        assert "CapBnd:\t0000000000000000" in pod.ask(router, "cat", "/proc/self/status").stdout


def test_one_on_sqlite_has_its_traces_again_in_the_next_pod(tmp_path: Path) -> None:
    claims = {"router-service-data": tmp_path / "claim"}
    server = ("--server", "127.0.0.1:50051")
    traces = []
    for number in ("first", "second"):
        (tmp_path / number).mkdir()
        pod, router = pod_of(overlays()["sqlite"], tmp_path / number, claims=claims)
        with pod.running():
            pod.wait_for("readinessProbe", router)
            traces.append(decide(pod, router, *server)["decision"]["trace_id"])
            shown = pod.ask(router, "router-service", "trace", "show", traces[0], *server)
            assert shown.returncode == 0, shown.stderr
            assert pod.end("router-service") == 0


def test_beside_an_application_it_is_asked_over_the_socket_by_another_user_of_the_pod(
    tmp_path: Path, redis: str
) -> None:
    built = overlays()["sidecar"]
    store = {"router-service-store": {"url": redis}}
    pod, router = pod_of(built, tmp_path, files=store, extra=(tmp_path / "redis",))
    application = next(one for one in containers(pod.workload) if one["name"] == "application")
    with pod.running():
        for probe in ("livenessProbe", "readinessProbe"):
            pod.wait_for(probe, router)
        assert decide(pod, application)["decision"]["candidates"]  # where to ask is in its environment
        assert pod.ask(application, "id", "--user").stdout.strip() == "10001"
        pod.spec["securityContext"].pop("fsGroup")
        stranger = pod.ask(application, "router-service", "decide")
        assert stranger.returncode == 3, stranger
        assert pod.end("router-service") == 0


def test_a_pod_is_not_started_before_its_catalogue_is_sound(tmp_path: Path) -> None:
    """It ends with the problem in its log, and the old replica stays."""
    built = overlays()["sqlite"]
    wrong = {"router-service-catalog": {"catalog.yaml": catalog_of(built)["catalog.yaml"].replace("eu-owned", "eu")}}
    pod, _ = pod_of(built, tmp_path, files=wrong, claims={"router-service-data": tmp_path / "claim"})
    with pytest.raises(AssertionError, match=r"catalog\.yaml:"), pod.running():
        pass


def test_a_catalogue_beyond_a_mebibyte_comes_from_a_volume(tmp_path: Path) -> None:
    own = copied(tmp_path / "tree", "resources: [../overlays/sqlite]\ncomponents: [../components/catalog-volume]\n")
    (built,) = build(own)
    assert built.of("ConfigMap") == []
    ((workload, router),) = routers(built.objects)
    claims = {"router-service-data": tmp_path / "claim", "router-service-catalog": tmp_path / "catalog"}
    claims["router-service-catalog"].mkdir()
    line = "- {{endpoint_id: m@p{0}, model: m, provider: p{0}, country: FR, sovereignty: eu-owned}}  # {1}\n"
    large = "currency: EUR\ndefault_policy: eu\npolicies: [{policy_id: eu}]\nmodels: [{model: m}]\nendpoints:\n"
    large += "".join(line.format(number, "why it is here, " * 60) for number in range(1100))
    assert len(large) > 1024 * 1024
    (claims["router-service-catalog"] / "catalog.yaml").write_text(large)
    (tmp_path / "pod").mkdir()
    pod = Pod(workload, tmp_path / "pod", {}, claims)
    with pod.running():
        pod.wait_for("readinessProbe", router)
        assert decide(pod, router, "--server", "127.0.0.1:50051")["decision"]["candidates"]


def test_envoy_beside_it_lets_through_what_the_router_decided_and_nothing_else(tmp_path: Path, redis: str) -> None:
    built = overlays()["envoy"]
    hosts = ("api.mistral.ai", "api.scaleway.ai", "your-resource.openai.azure.com")
    files = {
        "router-service-store": {"url": redis},
        "llm-gateway-credentials": {f"{host}.yaml": credential(host) for host in hosts},
    }
    pod, router = pod_of(built, tmp_path, files=files, extra=(tmp_path / "redis",))
    envoy = next(one for one in containers(pod.workload) if one["name"] == "envoy")
    with pod.running():
        pod.wait_for("readinessProbe", envoy)
        pod.wait_for("readinessProbe", router)

        def post(model: str) -> tuple[int, str]:
            """Asked from within the Pod, whose network has no names, so that no provider can be reached."""
            done = pod.ask(envoy, "python", "-c", POST, model)
            assert done.returncode == 0, done.stderr
            status, _, body = done.stdout.partition("\n")
            return int(status), body

        until(lambda: post("no-such-model")[0] != 503, pod)  # until Envoy knows that the router is well
        status, body = post("no-such-model")
        assert status == 404
        assert json.loads(body)["error"]["code"] == "model_not_found"
        assert post("mistral-large")[0] == 503
        decided = pod.ask(router, "router-service", "trace", "list", "--server", SOCKET, "--output", "json")
        assert "mistral-large" in decided.stdout, decided
        assert pod.end("envoy") == 0
        assert pod.end("router-service") == 0
        assert re.search('"endpoint":"large@.*"status":503', pod.log())  # Envoy's access log tells whom it called


def test_with_tls_and_callers_it_is_probed_in_plain_and_asked_with_a_token(tmp_path: Path, identified: Built) -> None:
    issued = AUTHORITY.issue("localhost", "127.0.0.1")
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o755)
    (mine / "token").write_text(token_of("gateway"))
    authority = AUTHORITY.write(mine)
    files = {
        "router-service-tls": {"tls.crt": issued.cert.decode(), "tls.key": issued.key.decode()},
        "router-service-callers": callers("gateway"),
    }
    claims = {"router-service-data": tmp_path / "claim"}
    pod, router = pod_of(identified, tmp_path, files=files, claims=claims, extra=(mine,))
    server = ("--server", "localhost:50051", "--tls-ca", str(authority))
    with pod.running():
        for probe in ("livenessProbe", "readinessProbe"):
            pod.wait_for(probe, router)
        assert pod.ask(router, "router-service", "decide", *server).returncode not in (0, 1)
        token = ("--token-file", str(mine / "token"))
        assert decide(pod, router, *server, *token)["decision"]["policy_id"] == "eu"
        pod.update("callers", callers("another"))  # whoever it was is nobody now
        until(lambda: pod.ask(router, "router-service", "decide", *server, *token).returncode not in (0, 1), pod)
        assert pod.end("router-service") == 0
