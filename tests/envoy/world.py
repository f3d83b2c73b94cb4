"""A whole world on loopback: providers with TLS names of their own, the service, and an Envoy as the tool prints it."""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import grpc
from click.testing import CliRunner

from router_service.cli import main
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.trace_pb2 import Trace
from tests.envoy.providers import Providers
from tests.envoy.proxy import Envoy
from tests.server.conftest import ServerProcess
from tests.server.identity.certificates import Authority

PATIENCE_S = 20
# What the environment says for flags, which no test means.
OURS = tuple(name for name in os.environ if name.startswith("ROUTER_SERVICE_"))
_Found = TypeVar("_Found")

NAMES = ("alpha", "beta", "gamma")
POLICIES = ("eu", "world", "strict", "cheap", "poor", "clinic")
# In the order of their ranking, which no report changes.
CATALOG = """\
currency: EUR
default_policy: eu
models: [{{model: m, aliases: [m-2512]}}, {{model: other}}]
endpoints:
- {{endpoint_id: m@alpha, model: m, provider: alpha, country: FR, sovereignty: eu-owned, latency_ms: 300,
   input_price: 1, output_price: 1, address: "{alpha}/v1", upstream_model: alpha/m-1}}
- {{endpoint_id: m@beta, model: m, provider: beta, country: DE, sovereignty: eu-hosted, latency_ms: 500,
   input_price: 2, output_price: 2, address: "{beta}/openai/v1"}}
- {{endpoint_id: m@gamma, model: m, provider: gamma, country: US, sovereignty: global, latency_ms: 600,
   input_price: 3, output_price: 3, address: "{gamma}", upstream_model: 'm "x"'}}
- {{endpoint_id: other@gamma, model: other, provider: gamma, country: US, sovereignty: global, address: "{gamma}/v1"}}
policies:
- {{policy_id: eu, residency: [eu-hosted]}}
- {{policy_id: world, residency: [eu-hosted, global]}}
- {{policy_id: strict, residency: [eu-owned]}}
- {{policy_id: cheap, residency: [eu-hosted], max_price: 0.1}}
- {{policy_id: poor, residency: [eu-hosted], daily_budget: 0.000001}}
- {{policy_id: clinic, residency: [eu-hosted], data_classes: [health], require_data_class: true}}
workloads:
- {{name: chat, version: 1, regions: [DE]}}
circuits: {{failures_in_row: 100, least_attempts: 1000, rate_limited_ms: 0, refused_ms: 0, least_observations: 1000}}
"""


def until(holds: Callable[[], _Found]) -> _Found:
    """What `holds` gives once that is true."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)
    return found


def write_credential(folder: Path, name: str, value: str) -> None:
    """A credential as Envoy reads it, moved into its place."""
    kind = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"
    secret = {"@type": kind, "name": name, "generic_secret": {"secret": {"inline_string": value}}}
    new = folder / f".{name}"
    new.write_text(json.dumps({"resources": [secret]}))
    new.rename(folder / f"{name}.yaml")


def printed(*arguments: str, fails: bool = False) -> str:
    """What `router-service envoy` prints; where it fails, what it says."""
    ran = CliRunner(env=dict.fromkeys(OURS)).invoke(main, ["envoy", *arguments])
    assert ran.exit_code == (2 if fails else 0), ran.output
    return ran.stderr if fails else ran.stdout


class World:
    """The parts by their names. `folder` holds all files."""

    def __init__(self, folder: Path, catalog: str = CATALOG, names: tuple[str, ...] = NAMES) -> None:
        self.folder, self._authority = folder, Authority()
        self.ca = self._authority.write(folder)
        self.credentials = folder / "credentials"
        self.credentials.mkdir()
        self.providers = Providers(self._context_of)
        for name in names:
            self.providers.start(name)
        addresses = {name: f"https://{one.host}:{one.port}" for name, one in self.providers.by_name.items()}
        for one in self.providers.by_name.values():
            write_credential(self.credentials, f"{one.host}_{one.port}", f"Bearer key-of-{one.name}")
        self.catalog = folder / "catalog.yaml"
        self.catalog.write_text(catalog.format(**addresses))
        self.server: ServerProcess | None = None
        self.envoy: Envoy | None = None

    def issue(self, name: str, file: str) -> tuple[Path, Path]:
        """A certificate for a name, and its key."""
        return self._authority.issue(name).write(self.folder, file)

    def serve(self, *arguments: str, listen: str = "127.0.0.1:0") -> ServerProcess:
        """Starts the service, with its store in a file."""
        flags = ["--store", f"sqlite:{self.folder}/router.db", "--envoy-authz", "--envoy-processing"]
        self.server = ServerProcess("--listen", listen, "--catalog", str(self.catalog), *flags, *arguments)
        assert self.server.target
        return self.server

    def print(self, *arguments: str, service: str = "", policies: tuple[str, ...] = POLICIES) -> str:
        """The configuration that the tool prints for this world."""
        assert self.server is not None or service
        return printed(
            *(str(self.catalog), "--listen", "127.0.0.1:0", "--envoy-admin", "127.0.0.1:0"),
            *("--service", service or self.server.target, "--ca", str(self.ca)),  # type: ignore[union-attr]
            *("--credentials", str(self.credentials), "--decision-timeout", str(PATIENCE_S)),
            *(one for policy in policies for one in ("--policy", policy)),
            *arguments,
        )

    def start_envoy(self, config: str) -> Envoy:
        """Starts Envoy, which asks the service as soon as that is healthy."""
        if self.envoy is not None:
            self.envoy.stop()
        self.envoy = Envoy(config, self.folder)
        return self.envoy

    def trace(self, trace_id: str, *, reported: bool = True) -> Trace:
        """A trace, as soon as it has a report."""
        assert self.server is not None

        def found() -> Trace | None:
            assert self.server is not None
            try:
                trace: Trace = self.server.router.GetTrace(pb.GetTraceRequest(trace_id=trace_id)).trace
            except grpc.RpcError:
                return None
            return trace if trace.reports or not reported else None

        trace = until(found)
        assert trace is not None
        return trace

    def traces(self) -> list[Trace]:
        """All traces, without their reports."""
        assert self.server is not None
        found: list[Trace] = []
        token = ""
        while True:
            page = self.server.router.ListTraces(pb.ListTracesRequest(page_size=1000, page_token=token))
            found += page.traces
            token = page.next_page_token
            if not token:
                return found

    def trace_of(self, operation_id: str) -> Trace:
        """The trace of the decision for a request that Envoy gave this id, as soon as it has a report."""

        def found() -> str:
            return next((one.trace_id for one in self.traces() if one.operation_id == operation_id), "")

        return self.trace(until(found))

    def close(self) -> None:
        if self.envoy is not None:
            self.envoy.stop()
        if self.server is not None:
            self.server.stop()
        self.providers.close()

    def _context_of(self, name: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self._authority.issue(f"{name}.localhost").write(self.folder, name))
        return context


def listed(trace: Trace) -> list[str]:
    """The failover list of a trace."""
    return [one.endpoint_id for one in trace.decision.candidates]


def attempts(trace: Trace) -> list[Any]:
    """All attempts that were reported of it, in order."""
    return [attempt for report in trace.reports for attempt in report.attempts]
