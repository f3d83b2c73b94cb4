"""A server in this process, over a store in memory and a clock of the test's own, behind a real gRPC connection."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import structlog

from router_service.asks import Memory
from router_service.catalog.archive import pack
from router_service.catalog.load import load
from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.router import Router
from router_service.server import router_service
from router_service.server.history_service import HistoryServicer
from router_service.server.metrics import Metrics
from router_service.server.router_service import RouterServicer
from router_service.server.rpc import Calls
from router_service.v1.router_service_pb2_grpc import RouterServiceStub
from router_service.wire.trace import WireCodec
from tests.memory_store import MemoryStore

NOW = 1_800_000_000_000  # 2027-01-15T08:00:00Z


class InProcess:
    """`router` is a stub of it, `now` what its clock says; without a store it has no memory."""

    def __init__(self, store: MemoryStore | None, folder: Path) -> None:
        self.now = NOW
        self.dropped = 0
        self.metrics = Metrics()
        self.store = store
        self._file = folder / "catalog.yaml"
        self._served = Served()
        self.memory = None if store is None else Memory.of(store, WireCodec(), self._drop)
        router = Router(self._served, lambda: self.now, stateless=True, memory=self.memory)
        log = structlog.wrap_logger(None, processors=[_swallow])
        calls = Calls(self.metrics, log)
        self._doors = (RouterServicer(router, calls, self.metrics, log), HistoryServicer(router, calls, self.metrics))
        self.router: Any = None

    async def serve(self, catalog: str) -> None:
        """Serves this catalogue from now on, and keeps it."""
        self._file.write_text(catalog)
        content = load(self._file)
        if self.store is not None:
            await self.store.keep_catalog(content.version(), pack(content))
        self._served.install(Snapshot.of(content, self.now))

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
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            self.router = RouterServiceStub(channel)
            yield self
        await server.stop(None)

    def _drop(self, count: int) -> None:
        self.dropped += count


def _swallow(_logger: Any, _method: str, _event: Any) -> Any:
    raise structlog.DropEvent
