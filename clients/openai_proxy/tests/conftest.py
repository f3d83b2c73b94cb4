"""The provider, the service and one proxy for all tests, and SDKs that know nothing but its base URL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import openai
import pytest

from clients.conformance.serving import serving
from clients.openai_proxy.tests.backend import Backend, providing
from clients.openai_proxy.tests.behaviours import BEHAVIOURS
from clients.openai_proxy.tests.world import ProxyProcess, catalogue, proxying, settings, until
from router_service_client import Report, RouterClient


@dataclass(frozen=True)
class Reports:
    """What the service was told."""

    router: RouterClient

    def of(self, trace_id: str) -> Report:
        """The report of a trace, once it has come: it is told in the background."""
        return until(lambda: list(self.router.get_trace(trace_id).reports))[0]

    def last(self) -> Report:
        """That of the newest decision."""
        return self.of(next(iter(self.router.list_traces(page_size=1))).trace_id)


@pytest.fixture(scope="session")
def provider() -> Iterator[Backend]:
    with providing(BEHAVIOURS) as backend:
        yield backend


@pytest.fixture
def backend(provider: Backend) -> Backend:
    """The provider, having forgotten what it got."""
    provider.clear()
    return provider


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("service")
    (folder / "catalog.yaml").write_text(catalogue(), "utf-8")
    arguments = ("--catalog", str(folder / "catalog.yaml"), "--store", f"sqlite:{folder}/db")
    with serving("--listen", "127.0.0.1:0", *arguments) as address:
        yield address


@pytest.fixture(scope="session")
def reports(service: str) -> Iterator[Reports]:
    with RouterClient(service) as router:
        yield Reports(router)


@pytest.fixture(scope="session")
def proxy(tmp_path_factory: pytest.TempPathFactory, service: str, provider: Backend) -> Iterator[ProxyProcess]:
    """A proxy without keys, under whose configuration nothing is replayed."""
    said = settings(service, provider.port, access={"policies": ["owned", "poor"], "workloads": ["chat"]})
    with proxying(tmp_path_factory.mktemp("proxy"), said) as running:
        yield running


@pytest.fixture
def start(tmp_path: Path, service: str, backend: Backend) -> Iterator[Callable[..., ProxyProcess]]:
    """Starts more proxies, with other settings."""
    running: list[ProxyProcess] = []

    def begin(**more: object) -> ProxyProcess:
        folder = tmp_path / str(len(running))
        folder.mkdir()
        running.append(ProxyProcess(folder, settings(service, backend.port, **more)))
        assert running[-1].url
        return running[-1]

    yield begin
    for one in running:
        one.stop()
        assert one.process.stderr is not None
        one.process.stderr.close()


@pytest.fixture(scope="session")
def sdk(proxy: ProxyProcess) -> Iterator[openai.OpenAI]:
    """The SDK as it is: only its base URL is another one, its retries are on."""
    with openai.OpenAI(base_url=proxy.url, api_key="the client's own") as client:
        yield client


@pytest.fixture(scope="session")
def replaying(tmp_path_factory: pytest.TempPathFactory, service: str, provider: Backend) -> Iterator[openai.OpenAI]:
    """The SDK at a proxy that may send again what was perhaps carried out."""
    folder = tmp_path_factory.mktemp("replaying")
    with (
        proxying(folder, settings(service, provider.port, replayable=True)) as running,
        openai.OpenAI(base_url=running.url, api_key="k") as client,
    ):
        yield client
