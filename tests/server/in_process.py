"""A server in this process, over a store in memory and a clock of the test's own, behind a real gRPC connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from router_service.asks import Memory
from router_service.catalog.archive import pack
from router_service.catalog.load import load
from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.domain.caller import LOCAL
from router_service.health.shared import SharedHealth
from router_service.router import Router
from router_service.server import router_service
from router_service.server.history_service import HistoryServicer
from router_service.server.identity.access import Open
from router_service.server.log import make_logger
from router_service.server.metrics import Metrics
from router_service.server.router_service import RouterServicer
from router_service.server.rpc import Calls
from router_service.server.told import Told
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from router_service.wire.trace import WireCodec
from tests.memory_store import MemoryStore

NOW = 1_800_000_000_000  # 2027-01-15T08:00:00Z


class InProcess:
    """`router` is a stub of it, `now` what its clock says; where it does not remember, the store stays empty."""

    def __init__(self, folder: Path, *, remembers: bool = True) -> None:
        self.now = NOW
        self.dropped = 0
        self.metrics = Metrics()
        self.store = MemoryStore()
        self.folder = folder
        self._file = folder / "catalog.yaml"
        self._served = Served()
        memory = Memory.of(self.store, WireCodec(), self._drop) if remembers else None
        self.health = SharedHealth()
        self.metrics.watch(self.health.board, lambda: self.now)
        router = Router(
            self._served,
            lambda: self.now,
            stateless=True,
            memory=memory,
            health=self.health,
            settled=self.metrics.settled,
        )
        log = make_logger("error", "json")
        calls = Calls(self.metrics, log, Open(LOCAL))
        self._doors = (
            RouterServicer(router, calls, Told(self.metrics, log)),
            HistoryServicer(router, calls, self.metrics),
        )
        self.router: Any = None

    async def serve(self, catalog: str) -> None:
        """Serves this catalogue from now on, and keeps it."""
        self._file.write_text(catalog)
        content = load(self._file)
        await self.store.keep_catalog(content.version(), pack(content))
        snapshot = Snapshot.of(content, self.now)
        self._served.install(snapshot)
        self.metrics.installed(snapshot, changed=True)

    def counted(self, name: str, **labels: str) -> float:
        """The value of a metric; 0 where it was never counted."""
        return self.metrics.registry.get_sample_value(name, labels) or 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[InProcess]:
        """Answers on a port of its own choice; nothing is written but when somebody asks."""
        server = grpc.aio.server()
        handlers = {name: one for door in self._doors for name, one in door.handlers().items()}
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(router_service.SERVICE, handlers)])
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        self.port = port
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            self.router = RouterServiceStub(channel)
            yield self
        await server.stop(None)

    def _drop(self, count: int) -> None:
        self.dropped += count


CATALOG = """\
currency: EUR
default_policy: eu
models:
- {model: small, context_window: 8192}
- {model: large, context_window: 131072}
endpoints:
- {endpoint_id: small@a, model: small, provider: a, region: fr-par, country: FR, sovereignty: eu-owned,
   input_price: 1, output_price: 2}
- {endpoint_id: large@b, model: large, provider: b, region: eu-central-1, country: DE, sovereignty: eu-hosted,
   input_price: 10, output_price: 20}
- {endpoint_id: large@us, model: large, provider: c, region: us-east-1, country: US, sovereignty: global,
   input_price: 5, output_price: 5}
policies:
- {policy_id: eu}
- {policy_id: world, residency: [eu-hosted, global]}
- {policy_id: capped, daily_budget: 0.05, time_zone: Europe/Berlin}
- {policy_id: poor, daily_budget: 0.000001}
- {policy_id: clinic, data_classes: [health], require_data_class: true}
- {policy_id: brief, retention: "0"}
"""

# The same ids, and nothing else is as it was: other models, prices, places and policies.
EVERYTHING_CHANGED = """\
currency: EUR
default_policy: world
models:
- {model: other}
- {model: new}
endpoints:
- {endpoint_id: small@a, model: other, provider: z, region: us-west-2, country: US, sovereignty: global,
   input_price: 900, output_price: 900}
- {endpoint_id: new@n, model: new, provider: n, region: de-1, country: DE, sovereignty: eu-owned}
policies:
- {policy_id: world, residency: [eu-owned]}
- {policy_id: clinic}
"""


@pytest.fixture
async def history(tmp_path: Path) -> AsyncIterator[InProcess]:
    """One that serves CATALOG and remembers."""
    async with InProcess(tmp_path).running() as server:
        await server.serve(CATALOG)
        yield server


@pytest.fixture
async def forgetful(tmp_path: Path) -> AsyncIterator[InProcess]:
    """One without a store."""
    async with InProcess(tmp_path, remembers=False).running() as server:
        await server.serve(CATALOG)
        yield server


async def failure(call: Awaitable[Any]) -> tuple[grpc.StatusCode, str, dict[str, str]]:
    """(code, ErrorInfo's reason, bad fields) of a call that must fail."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    reason, fields = "", {}
    status = status_pb2.Status.FromString(dict(caught.value.trailing_metadata())["grpc-status-details-bin"])
    for detail in status.details:
        info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        if detail.Unpack(info):
            reason = info.reason.removeprefix("ERROR_REASON_")
        elif detail.Unpack(bad):
            fields = {one.field: one.description for one in bad.field_violations}
    return caught.value.code(), reason, fields
