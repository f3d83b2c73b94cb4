"""The composition root: builds the server of its parts, runs it, and ends it gently."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Callable, Sequence
from typing import Any

from router_service.asks import Memory
from router_service.catalog.served import Served
from router_service.catalog.slices import unhurried
from router_service.domain.caller import local_caller
from router_service.health.shared import SharedHealth
from router_service.router import Router
from router_service.server import catalog_service, router_service, rubbish
from router_service.server.admin_service import AdminServicer
from router_service.server.admission import Admission
from router_service.server.catalog_service import CatalogServicer
from router_service.server.connections import Connections
from router_service.server.drain import Drain, Ending, flushed
from router_service.server.entrance import Entrance
from router_service.server.envoy.doors import open_doors
from router_service.server.exposition import written
from router_service.server.history_service import HistoryServicer
from router_service.server.identity.audit import Audit
from router_service.server.identity.counted import IdentityCounts
from router_service.server.identity.keeping import Identity
from router_service.server.loading import Loading
from router_service.server.log import make_logger
from router_service.server.metrics import Metrics
from router_service.server.ports import Ports
from router_service.server.pulse import Pulse
from router_service.server.reporting import Reporting
from router_service.server.router_service import RouterServicer
from router_service.server.rpc import Calls
from router_service.server.serving import Serving
from router_service.server.settings import Settings
from router_service.server.sources import Files
from router_service.server.told import Told
from router_service.server.under_way import UnderWay
from router_service.server.upkeep import Upkeep
from router_service.server.workers.post import Post
from router_service.store.watched import WatchedStore
from router_service.wire.trace import CODEC

SERVICES = (router_service.SERVICE, catalog_service.SERVICE)


class App:
    """One running server."""

    def __init__(self, settings: Settings, clock: Callable[[], int], post: Post | None = None) -> None:
        """`post` is for one of several workers."""
        self._settings, self._clock, self._post = settings, clock, post
        self._log: Any = logger_of(settings)
        claimed = post is not None
        self._ports = Ports(settings.addresses, settings.admin, settings.health, claimed, self._log)
        self._metrics = Metrics()
        self._served = Served()
        self._serving = Serving()
        self._upkeep: Upkeep | None = None
        memory, store = None, None
        if settings.store is not None:
            store = WatchedStore(settings.store)
            memory = Memory.of(store, CODEC, self._metrics.traces_dropped)
            self._upkeep = Upkeep(memory, store, self._served, clock, self._metrics, self._log, self._serving.store)
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
        self._pulse = Pulse(shared, self._served, clock, self._log)
        self._loading = Loading(
            Files(settings.catalog) if post is None else post.source,
            self._served,
            self._pulse,
            clock,
            self._metrics,
            self._log,
            keep=self._keep_catalog,
            tell=self._serving.catalog,
        )
        admission = Admission(settings.limits, stateless=settings.stateless)
        counts = IdentityCounts(self._metrics.registry)
        local = local_caller(admin=settings.local_admin)
        self._identity = Identity(settings.callers, settings.tls, local, self._served, clock, counts, self._log)
        self._audit = Audit(self._log, settings.audit_log, clock, counts.audit_lost)
        calls = self._calls = Calls(self._metrics, self._log, self._identity.access, admission)
        told = Told(self._metrics, self._log, None if settings.spans is None else settings.spans.told)
        router = RouterServicer(self._router, calls, told)
        history = HistoryServicer(self._router, calls, self._metrics)
        catalog = CatalogServicer(self._router, self._served, calls, clock, shared)
        admin = AdminServicer(self._router, self._loading, self._pulse, shared, calls, clock, self._audit)
        self._doors = open_doors(
            self._router,
            calls,
            told,
            Reporting(self._router, self._metrics),
            clock,
            self._log,
            authz=settings.envoy_authz,
            external_processing=settings.envoy_processing,
        )
        services = {
            router_service.SERVICE: router.handlers() | history.handlers(),
            catalog_service.SERVICE: catalog.handlers() | admin.handlers(),
            **self._doors.services,
        }
        if settings.spans is not None:
            services = settings.spans.around(services)
        self._services = tuple(services)
        self._entrance = Entrance(
            settings, services, calls, self._identity.access, self._serving.statuses, told=SERVICES
        )
        self._server = self._entrance.server
        self._connections = Connections()
        self._metrics.registry.register(UnderWay(calls, self._connections, self._entrance))

    async def run(
        self,
        stop: asyncio.Event,
        ready: Callable[[list[str]], None] = lambda _: None,
        at_once: asyncio.Event | None = None,
    ) -> None:
        """Serves until `stop` is set, and ends gently, unless and until `at_once` is set.

        Raises CatalogInvalid, CallersInvalid, TlsInvalid, AuditInvalid or AddressError where it cannot begin.

        It answers from the first moment, NOT_SERVING until the catalogue is loaded; `ready` is told the addresses then.
        """
        at_once = at_once or asyncio.Event()
        await self._serving.begin(self._services)
        self._audit.open()
        await self._identity.first()
        rubbish.begin()
        reached = self._ports.bind(self._server, self._identity.certificates)
        self._connections.watch(reached)
        await self._ports.open_beside(self._page, lambda: self._serving.now, self._entrance.probed)
        await self._server.start()
        background = [asyncio.create_task(waiting.run()) for waiting in self._entrance.waiting]
        try:
            if self._post is not None:
                hearing = self._post.run(self._metrics.registry, self._identity.wake, self._serving.workers)
                background.append(asyncio.create_task(hearing))
            if await self._begin(stop):
                await self._tell_ready(ready, reached)
                going_on = (
                    *(self._loading.run(), self._pulse.run(), self._identity.run()),
                    *(self._connections.run(), *(work() for work in self._doors.work)),
                )
                background += [asyncio.create_task(work) for work in going_on]
                await stop.wait()
        finally:
            await self._end(background, at_once)

    async def _begin(self, stop: asyncio.Event) -> bool:
        """Has the first catalogue served; False where it is told to stop before that."""
        if self._upkeep is not None:
            await self._upkeep.start()
        await self._pulse.begin()
        if not await self._loading.first(stop):
            return False
        await self._serving.serve()
        self._metrics.serving(serving=True)
        return True

    async def _tell_ready(self, ready: Callable[[list[str]], None], reached: list[str]) -> None:
        if self._post is not None:
            self._post.ready(reached)
            return
        await self._serving.workers(good=True)
        ready(reached)

    async def _end(self, background: Sequence[asyncio.Task[None]], at_once: asyncio.Event) -> None:
        # Who was never told that it serves need not be told in time that it does not.
        drain = Drain(self._settings.drain_delay_s if self._serving.now else 0, self._settings.grace_s)
        self._metrics.serving(serving=False)
        await self._serving.leave()
        await drain.run(self._server, self._calls, at_once, self._log)
        for task in background:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._served.close()
        lost = (lambda: 0) if self._upkeep is None else self._upkeep.give_up
        await flushed(self._flush(), at_once, self._log, lost)
        await self._ports.close_beside()
        self._log.info("stopped")
        if self._post is not None:
            await self._post.tell_metrics(self._metrics.registry)
            self._post.close()

    async def _flush(self) -> None:
        """Writes what was learned and recorded last; a lost store, which is waited for, keeps no span from going."""
        spans = self._settings.spans
        await asyncio.gather(self._write_last(), *([] if spans is None else [asyncio.to_thread(spans.close)]))

    async def _write_last(self) -> None:
        await self._audit.close()
        await self._pulse.end()
        if self._upkeep is not None:
            await self._upkeep.close()

    def reload(self) -> None:
        """Loads the catalogue, callers and certificate now, changed or not (SIGHUP)."""
        self._identity.wake()
        self._loading.wake()

    async def _page(self) -> bytes:
        return await unhurried(written(self._metrics.registry), pause_s=0)

    async def _keep_catalog(self, version: str, archive: bytes) -> None:
        if self._upkeep is not None:
            await self._upkeep.keep_catalog(version, archive)


def logger_of(settings: Settings) -> Any:
    """The logger of a server, whose lines tell which of several workers it is."""
    logger = make_logger(settings.log_level, settings.log_format, with_spans=settings.spans is not None)
    return logger if settings.seat is None else logger.bind(worker=settings.seat.number)


def wall_clock() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


async def serve(settings: Settings, ready: Callable[[list[str]], None]) -> None:
    """Runs a server until SIGTERM or SIGINT; SIGHUP loads the catalogue anew."""
    ending = Ending()
    post = None if settings.seat is None else Post(settings.seat, ending, logger_of(settings))
    app, loop = App(settings, wall_clock, post), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        # Who signals a whole group signals the supervisor too, which tells its workers: that is not a second signal.
        loop.add_signal_handler(number, ending.signal if post is None else ending.begun.set)
    loop.add_signal_handler(signal.SIGHUP, app.reload)
    await app.run(ending.begun, ready, ending.at_once)
