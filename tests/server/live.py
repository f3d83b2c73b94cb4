"""A whole server in this process, on a real store and a clock set by hand, spoken to over gRPC."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
from prometheus_client import CollectorRegistry

from router_service.server.app import App
from router_service.server.listen import parse_addresses
from router_service.server.settings import Settings
from router_service.store.open import open_store
from router_service.v1 import catalog_service_pb2 as catalog_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.catalog_service_pb2_grpc import CatalogServiceStub
from router_service.v1.explanation_pb2 import EndpointExplanation, Explanation
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest
from router_service.v1.router_service_pb2_grpc import RouterServiceStub

NOW = 1_800_000_000_000  # 2027-01-15T08:00:00Z
PATIENCE_S = 10
# In the order of their ranking; each needs 100 ms more than its latency.
CATALOG = """\
currency: EUR
default_policy: eu
models: [{model: m}]
endpoints:
- {endpoint_id: a, model: m, provider: p, country: FR, sovereignty: eu-owned, latency_ms: 600, error_rate: 0.01,
   input_price: 10, output_price: 10}
- {endpoint_id: b, model: m, provider: q, country: DE, sovereignty: eu-hosted, latency_ms: 700,
   input_price: 10, output_price: 10}
- {endpoint_id: c, model: m, provider: r, country: DE, sovereignty: eu-hosted, latency_ms: 800,
   input_price: 10, output_price: 10}
policies:
- {policy_id: eu}
- {policy_id: daily, daily_budget: 1000}
"""
FAILED = {"failure_class": "transient", "status_code": 503}
LIMITED = {"failure_class": "transient", "status_code": 429}
REFUSED = {"failure_class": "permanent", "status_code": 401}
OPEN_MS = 30_000


def ids(answer: pb.DecideResponse) -> list[str]:
    """The failover list; a refusal has none."""
    return [one.endpoint_id for one in answer.decision.candidates]


def trace_of(answer: pb.DecideResponse) -> str:
    return answer.decision.trace_id if answer.HasField("decision") else answer.refusal.trace_id


def told_of(explanation: Explanation, endpoint_id: str) -> EndpointExplanation:
    """What an explanation says of one endpoint."""
    return next(one for one in explanation.endpoints if one.endpoint_id == endpoint_id)


def figures(explanation: Explanation, endpoint_id: str) -> dict[str, tuple[str, str, str]]:
    """(used, recorded, source) by name."""
    shown = told_of(explanation, endpoint_id).figures
    return {one.name: (one.used, one.recorded, one.source) for one in shown}


def without_trace(explanation: Explanation) -> Explanation:
    """What is the same whether it is told of a request or of its trace."""
    plain = Explanation.FromString(explanation.SerializeToString())
    for result in (plain.decision, plain.refusal):
        if result.trace_id:
            result.trace_id = ""
    return plain


async def until(holds: Callable[[], Awaitable[Any]]) -> Any:
    """What `holds` gives once that is true; fails where it does not become so."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := await holds()):
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.02)
    return found


class Live:
    """`router` and `catalog` are its stubs, `now` what its clock says."""

    router: RouterServiceStub
    catalog: CatalogServiceStub

    def __init__(
        self, folder: Path, store: str = "", *, local_admin: bool = True, now: int = NOW, **others: Any
    ) -> None:
        """`others` are settings beside these."""
        self.now = now
        self.file = folder / "catalog.yaml"
        usual: dict[str, Any] = {
            "addresses": parse_addresses(("127.0.0.1:0",), insecure=False),
            "local_admin": local_admin,
            "log_level": "critical",
            "grace_s": 1,
        }
        settings = Settings(catalog=self.file, store=open_store(store) if store else None, **{**usual, **others})
        self._app = App(settings, lambda: self.now)
        self._attempts = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Live]:
        stop, reached = asyncio.Event(), list[str]()
        ready = asyncio.Event()

        def begin(addresses: list[str]) -> None:
            reached.extend(addresses)
            ready.set()

        running = asyncio.create_task(self._app.run(stop, begin))
        await asyncio.wait([running, waiting := asyncio.create_task(ready.wait())], return_when="FIRST_COMPLETED")
        waiting.cancel()
        try:
            async with AsyncExitStack() as stack:
                if ready.is_set():
                    self.targets = [address.partition(" ")[0] for address in reached]
                    self.target = self.targets[0]
                    channel = await stack.enter_async_context(grpc.aio.insecure_channel(self.target))
                    self.router, self.catalog = RouterServiceStub(channel), CatalogServiceStub(channel)
                    yield self
        finally:
            stop.set()
            await running

    @property
    def registry(self) -> CollectorRegistry:
        """What it counts."""
        return self._app._metrics.registry

    @property
    def leases(self) -> set[str]:
        """The policies of which it has a lease."""
        memory = self._app._router._memory
        return set() if memory is None else set(memory.budgets.leases._held)

    async def show(self) -> None:
        """Serves the figures that are known now, and does not wait until they come by themselves."""
        await self._app._pulse.refresh()

    async def decide(self, policy_id: str = "", **request: Any) -> pb.DecideResponse:
        message = pb.DecideRequest(policy_id=policy_id, request=RouteRequest(**request))
        answer: pb.DecideResponse = await self.router.Decide(message)
        return answer

    async def explain(self, trace_id: str = "", policy_id: str = "", **request: Any) -> Explanation:
        """A trace told again, or else a request."""
        message = pb.ExplainRequest(trace_id=trace_id)
        if not trace_id:
            message = pb.ExplainRequest(policy_id=policy_id, request=RouteRequest(**request))
        answer: pb.ExplainResponse = await self.router.Explain(message)
        return answer.explanation

    async def report(self, trace_id: str, endpoint_id: str = "", outcome: str = "", **attempt: Any) -> None:
        """Tells of one attempt, or that there was none."""
        self._attempts += 1
        attempts = [Attempt(attempt_id=str(self._attempts), endpoint_id=endpoint_id, **attempt)] if endpoint_id else []
        outcome = outcome or ("failed" if attempt.get("failure_class") or not endpoint_id else "accepted")
        message = pb.ReportRequest(report=Report(trace_id=trace_id, outcome=outcome, attempts=attempts))
        await self.router.Report(message)

    async def tell(self, endpoint_id: str, times: int = 1, **attempt: Any) -> None:
        """As many decisions that list the endpoint, each reported with an attempt on it."""
        others = sorted({"a", "b", "c"} - {endpoint_id})
        for _ in range(times):
            answer = await self.decide(exclude_endpoints=others)
            assert ids(answer) == [endpoint_id]
            await self.report(trace_of(answer), endpoint_id, **attempt)

    async def serves(self, endpoint_id: str) -> catalog_pb.ServedEndpoint:
        """What ListEndpoints says of one."""
        page = await self.catalog.ListEndpoints(catalog_pb.ListEndpointsRequest())
        return next(one for one in page.endpoints if one.endpoint.endpoint_id == endpoint_id)

    async def set_status(self, endpoint_id: str, status: str, reason: str = "") -> catalog_pb.SetEndpointStatusResponse:
        message = catalog_pb.SetEndpointStatusRequest(endpoint_id=endpoint_id, status=status, reason=reason)
        answer: catalog_pb.SetEndpointStatusResponse = await self.catalog.SetEndpointStatus(message)
        return answer

    async def serve(self, catalog: str) -> None:
        """Serves another catalogue, whether its files were seen to change before it was told to load them or not."""
        before = (await self.catalog.ListPolicies(catalog_pb.ListPoliciesRequest())).catalog_version
        self.file.write_text(catalog)
        assert (await self.reload()).catalog_version != before

    async def reload(self) -> catalog_pb.ReloadResponse:
        answer: catalog_pb.ReloadResponse = await self.catalog.Reload(catalog_pb.ReloadRequest())
        return answer


@asynccontextmanager
async def serving(folder: Path, catalog: str = CATALOG, **settings: Any) -> AsyncIterator[Live]:
    """A server over a catalogue, by default with its store in a file of the folder."""
    (folder / "catalog.yaml").write_text(catalog)
    async with Live(folder, **({"store": f"sqlite:{folder}/router.db"} | settings)).running() as live:
        yield live
