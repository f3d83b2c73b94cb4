"""The composition root: builds the server of its parts, runs it, and ends it gently."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from router_service.asks import Memory
from router_service.catalog.served import Served
from router_service.health.shared import SharedHealth
from router_service.router import Router
from router_service.server import catalog_service, router_service
from router_service.server.admin import AdminPort
from router_service.server.admin_service import AdminServicer
from router_service.server.catalog_service import CatalogServicer
from router_service.server.history_service import HistoryServicer
from router_service.server.listen import Address, AddressError, bind
from router_service.server.loading import Loading
from router_service.server.log import make_logger
from router_service.server.metrics import Metrics
from router_service.server.pulse import Pulse
from router_service.server.router_service import RouterServicer
from router_service.server.rpc import Calls
from router_service.server.upkeep import Upkeep
from router_service.store.interface import Store
from router_service.store.watched import WatchedStore
from router_service.wire.trace import CODEC

SERVICES = (router_service.SERVICE, catalog_service.SERVICE)
# The health of the catalogue's files, apart from the services: they serve the last good version whatever the files say.
CATALOG_HEALTH = "catalog"
# The health of the store: decisions go on without it, budgets as their policies say.
STORE_HEALTH = "store"
_LAST_WORDS_S = 0.2  # for answers that are written but not sent yet
MESSAGE_MAX = 4 * 1024 * 1024

_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
_OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_MAX),
    ("grpc.max_connection_age_ms", 5 * 60 * 1000),  # so that load spreads over replicas that came later
    ("grpc.max_connection_age_grace_ms", 30 * 1000),
    ("grpc.so_reuseport", 0),  # a second server on the same port must fail, not share it
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What `serve` was asked for."""

    catalog: Path
    addresses: tuple[Address, ...]
    admin: Address | None = None
    stateless: bool = False
    store: Store | None = None
    reflection: bool = True
    local_admin: bool = False
    grace_s: float = 10.0
    log_level: str = "info"
    log_format: str = "auto"


class App:
    """One running server."""

    def __init__(self, settings: Settings, clock: Callable[[], int]) -> None:
        self._settings, self._clock = settings, clock
        self._log: Any = make_logger(settings.log_level, settings.log_format)
        self._metrics = Metrics()
        self._served = Served()
        self._health = health.aio.HealthServicer()
        self._upkeep: Upkeep | None = None
        memory, store = None, None
        if settings.store is not None:
            store = WatchedStore(settings.store)
            memory = Memory.of(store, CODEC, self._metrics.traces_dropped)
            self._upkeep = Upkeep(memory, store, self._served, clock, self._metrics, self._log, self._tell_store)
        shared = SharedHealth(store)
        self._metrics.watch(shared.board, clock)
        self._router = Router(
            self._served,
            clock,
            stateless=settings.stateless,
            memory=memory,
            health=shared,
            settled=self._metrics.settled,
        )
        self._server = grpc.aio.server(options=_OPTIONS)
        self._pulse = Pulse(shared, self._served, clock, self._log)
        self._loading = Loading(
            settings.catalog,
            self._served,
            self._pulse,
            clock,
            self._metrics,
            self._log,
            keep=self._keep_catalog,
            tell=self._tell_catalog,
        )
        calls = self._calls = Calls(self._metrics, self._log)
        router = RouterServicer(self._router, calls, self._metrics, self._log)
        history = HistoryServicer(self._router, calls, self._metrics)
        catalog = CatalogServicer(self._router, self._served, calls, clock, shared)
        admin = AdminServicer(self._router, self._loading, self._pulse, shared, calls, clock, self._log)
        admin_handlers = admin.handlers(allowed=settings.local_admin)
        self._server.add_generic_rpc_handlers(
            [
                grpc.method_handlers_generic_handler(router_service.SERVICE, router.handlers() | history.handlers()),
                grpc.method_handlers_generic_handler(catalog_service.SERVICE, catalog.handlers() | admin_handlers),
            ]
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if settings.reflection:
            names = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, self._server)

    async def run(self, stop: asyncio.Event, ready: Callable[[list[str]], None] = lambda _: None) -> None:
        """Serves until `stop` is set. Raises CatalogInvalid or AddressError where it cannot begin.

        It answers from the first moment, NOT_SERVING until the catalogue is loaded; `ready` is told the addresses then.
        """
        for name in ("", *SERVICES, CATALOG_HEALTH, STORE_HEALTH):
            await self._health.set(name, _NOT_SERVING)
        gc.freeze()
        reached = [bind(self._server, address) for address in self._settings.addresses]
        admin = await self._start_admin()
        await self._server.start()
        background: list[asyncio.Task[None]] = []
        try:
            if self._upkeep is not None:
                await self._upkeep.start()
            await self._pulse.begin()
            if not await self._loading.first(stop):
                return
            for name in ("", *SERVICES):
                await self._health.set(name, _SERVING)
            self._metrics.serving(serving=True)
            ready(reached)
            background += (asyncio.create_task(self._loading.run()), asyncio.create_task(self._pulse.run()))
            await stop.wait()
        finally:
            self._log.info("draining", grace_s=self._settings.grace_s)
            self._metrics.serving(serving=False)
            await self._health.enter_graceful_shutdown()
            for task in background:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            self._served.close()
            await self._end_calls()
            await self._pulse.end()
            if self._upkeep is not None:
                await self._upkeep.close()
            if admin is not None:
                admin.close()
            self._log.info("stopped")

    async def _end_calls(self) -> None:
        """Takes no more calls, and waits for those under way, but not for streams of health that nobody ends."""
        stopping = asyncio.create_task(self._server.stop(self._settings.grace_s))
        idle = asyncio.create_task(self._calls.idle())
        await asyncio.wait((stopping, idle), return_when=asyncio.FIRST_COMPLETED)
        idle.cancel()
        await self._server.stop(_LAST_WORDS_S)
        await stopping

    async def _tell_store(self, healthy: bool) -> None:
        await self._health.set(STORE_HEALTH, _SERVING if healthy else _NOT_SERVING)

    def reload(self) -> None:
        """Loads the catalogue now, changed or not (SIGHUP)."""
        self._loading.wake()

    async def _start_admin(self) -> asyncio.Server | None:
        address = self._settings.admin
        if address is None:
            return None
        page = AdminPort(self._metrics.registry, lambda: self._served.snapshot is not None)
        try:
            server, port = await page.start(address.host, address.port)
        except OSError as error:
            raise AddressError(f"{address.text}: cannot listen there; is the port in use?") from error
        self._log.info("admin port", address=f"{address.host}:{port}")
        return server

    async def _keep_catalog(self, version: str, archive: bytes) -> None:
        if self._upkeep is not None:
            await self._upkeep.keep_catalog(version, archive)

    async def _tell_catalog(self, good: bool) -> None:
        await self._health.set(CATALOG_HEALTH, _SERVING if good else _NOT_SERVING)


def wall_clock() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


async def serve(settings: Settings, ready: Callable[[list[str]], None]) -> None:
    """Runs a server until SIGTERM or SIGINT; SIGHUP loads the catalogue anew."""
    app, stop = App(settings, wall_clock), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, app.reload)
    await app.run(stop, ready)
