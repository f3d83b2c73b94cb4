"""Runs a proxy: listens, and on SIGTERM ends without losing an answer or a report."""

from __future__ import annotations

import asyncio
import logging
import signal
import ssl
import sys
from collections.abc import Callable
from contextlib import suppress

import uvloop
from aiohttp import web

from router_openai_proxy import pages
from router_openai_proxy.chat_handler import chat
from router_openai_proxy.config.values import Config, Tls
from router_openai_proxy.middlewares import callers_known, errors_shaped, logged
from router_openai_proxy.proxy import PROXY, Proxy
from router_openai_proxy.secret import stamp
from router_service_client import ReportsLost

log = logging.getLogger(__name__)

_CUT_S = 5.0
"""How long requests that are cut have to say so."""
_BACKLOG = 1024
_CERTIFICATES_S = 1.0


def run(config: Config) -> None:
    """Serves until SIGTERM or SIGINT; a second one ends it at once."""
    uvloop.run(serve(config, lambda address: sys.stderr.write(f"listening on {address}\n")))


async def serve(config: Config, listening: Callable[[str], object]) -> None:
    """The same in a running loop; `listening` is told the address once requests are taken."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    proxy = Proxy(config)
    runner = web.AppRunner(application(proxy), access_log=None, handler_cancellation=True, shutdown_timeout=_CUT_S)
    await runner.setup()
    try:
        context = None if config.tls is None else _context(config.tls)
        site = web.TCPSite(runner, config.host, config.port, ssl_context=context, backlog=_BACKLOG)
        await site.start()
        watching = None if context is None or config.tls is None else loop.create_task(_watch(context, config.tls))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, _asked_to_end, stop)
        listening(_address(runner, config))
        await stop.wait()
        await _drain(proxy, site)
        if watching is not None:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
    finally:
        await runner.cleanup()
        with suppress(ReportsLost):  # it is logged, with how many
            await proxy.close()


def application(proxy: Proxy) -> web.Application:
    """What answers."""
    app = web.Application(
        middlewares=[logged, errors_shaped, callers_known], client_max_size=proxy.config.limits.request_bytes
    )
    app[PROXY] = proxy
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", pages.models)
    app.router.add_get("/v1/models/{model:.+}", pages.model)
    app.router.add_get("/healthz", pages.alive)
    app.router.add_get("/readyz", pages.ready)
    app.router.add_route("*", "/v1/{path:(?!chat/completions$|models(?:/|$)).*}", pages.not_here)
    app.on_response_prepare.append(_unsigned)
    return app


async def _unsigned(_request: web.Request, response: web.StreamResponse) -> None:
    """Which versions of what answer here is nobody's business."""
    response.headers["Server"] = "router-openai-proxy"


def _asked_to_end(stop: asyncio.Event) -> None:
    if stop.is_set():
        log.warning("asked to end a second time: requests under way are dropped")
        sys.stderr.flush()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.raise_signal(signal.SIGTERM)
    stop.set()


async def _drain(proxy: Proxy, site: web.BaseSite) -> None:
    """Not ready at once; then no new connections; then those under way end by themselves, or are told to."""
    limits = proxy.config.limits
    proxy.traffic.draining = True
    log.info("draining", extra={"told": {"requests": len(proxy.traffic)}})
    await asyncio.sleep(limits.drain_ms / 1000)
    await site.stop()
    if not await proxy.traffic.ended(limits.grace_ms / 1000):
        log.warning("requests are cut off", extra={"told": {"requests": len(proxy.traffic)}})
        proxy.traffic.cut()
        await proxy.traffic.ended(_CUT_S)


def _address(runner: web.AppRunner, config: Config) -> str:
    host, port = runner.addresses[0][:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http{'' if config.tls is None else 's'}://{shown}:{port}/v1"


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tls.certificate, tls.key)
    return context


async def _watch(context: ssl.SSLContext, tls: Tls) -> None:
    """Takes a new certificate for new connections; one that cannot be used leaves the last one in force."""
    seen = None
    while True:
        with suppress(OSError):
            now = stamp(tls.certificate), stamp(tls.key)
            if seen is not None and now != seen:
                try:
                    _context(tls)  # tried apart: half a change must not be taken
                    context.load_cert_chain(tls.certificate, tls.key)
                except (OSError, ValueError) as wrong:
                    log.warning("the certificate cannot be used (%s); the last one goes on being used", wrong)
            seen = now
        await asyncio.sleep(_CERTIFICATES_S)
