"""A live server that decisions and reports of every kind went to, and what it tells Prometheus then."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest
from tests.server.conftest import ServerProcess, catalog_file, serve

__all__ = ["catalog_file", "serve"]  # fixtures

CATALOG = """\
currency: EUR
default_policy: eu
models:
- {model: large, context_window: 131072, tools: true}
endpoints:
- {endpoint_id: first@a, model: large, provider: a, region: fr-par, country: FR, sovereignty: eu-owned,
   input_price: 1, output_price: 2, latency_ms: 200}
- {endpoint_id: second@b, model: large, provider: b, region: de-fra, country: DE, sovereignty: eu-owned,
   input_price: 5, output_price: 10, latency_ms: 300}
- {endpoint_id: third@c, model: large, provider: c, region: eu-west-1, country: IE, sovereignty: eu-hosted,
   input_price: 9, output_price: 18, latency_ms: 400}
- {endpoint_id: only@us, model: large, provider: d, region: us-east-1, country: US, sovereignty: global}
policies:
- {policy_id: eu}
- {policy_id: capped, daily_budget: 100}
- {policy_id: ill, residency: [global]}
"""
# How operations end, with the class of their last attempt; so many are good that no circuit opens.
ENDS = (
    *(("accepted", ""),) * 4,
    ("rejected", "invalid_response"),
    ("failed", "permanent"),
    ("deadline_exhausted", "transient"),
    ("ambiguous", "ambiguous"),
    ("cancelled", ""),
)
TOKENS = RouteRequest(input_tokens=1000, output_tokens=1000)


@dataclass
class Live:
    """A server with an admin port and a store in a file."""

    server: ServerProcess
    admin: str

    def scrape(self) -> str:
        """What Prometheus reads."""
        with urllib.request.urlopen(f"http://{self.admin}/metrics") as page:
            text: str = page.read().decode()
        return text

    def round(self) -> None:
        """Decisions and refusals of each policy, each outcome, and a report of an attempt outside the policy."""
        router = self.server.router
        router.Decide(pb.DecideRequest(request=RouteRequest(model="no-such-model")))
        for policy_id in ("eu", "capped"):
            for outcome, failure_class in ENDS:
                decision = router.Decide(pb.DecideRequest(policy_id=policy_id, request=TOKENS)).decision
                first, second, *_ = (one.endpoint_id for one in decision.candidates)
                attempts = [
                    attempt("1", first, failure_class="incompatible", status_code=422),
                    attempt("2", second, failure_class=failure_class, time_to_first_token_ms=120, output_tokens=900),
                ]
                router.Report(told(decision.trace_id, outcome, *attempts))
        ill = router.Decide(pb.DecideRequest(policy_id="ill", request=TOKENS))
        if ill.HasField("decision"):  # until its circuit opens
            lost = attempt("1", "only@us", failure_class="transient", status_code=503)
            router.Report(told(ill.decision.trace_id, "failed", lost))
        with pytest.raises(grpc.RpcError):
            router.Report(told(decision.trace_id, "accepted", attempt("9", "only@us")))


def attempt(attempt_id: str, endpoint_id: str, **fields: object) -> Attempt:
    usual = {"latency_ms": 800, "input_tokens": 1000}
    return Attempt(attempt_id=attempt_id, endpoint_id=endpoint_id, **(usual | fields))


def told(trace_id: str, outcome: str, *attempts: Attempt) -> pb.ReportRequest:
    return pb.ReportRequest(report=Report(trace_id=trace_id, outcome=outcome, attempts=attempts))


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """One for the tests of a module."""
    folder: Path = tmp_path_factory.mktemp("live")
    (folder / "catalog.yaml").write_text(CATALOG)
    files = ("--catalog", str(folder / "catalog.yaml"), "--store", f"sqlite:{folder}/router.db")
    server = ServerProcess("--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", *files)
    try:
        assert server.target
        line = server.wait_for("admin port")[0] and next(one for one in server.lines if "admin port" in one)
        found = re.search(r"127\.0\.0\.1:\d+", line)
        assert found is not None
        yield Live(server, found[0])
    finally:
        server.stop()


@pytest.fixture(scope="module")
def scrape(live: Live) -> str:
    """What it tells after a good deal of each."""
    for _ in range(6):
        live.round()
    return live.scrape()
