"""What holds of every request: who may call, how many at once, and that every error has OpenAI's shape."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from router_openai_proxy.errors import ApiError
from router_openai_proxy.proxy import PROXY
from router_openai_proxy.traffic import shutting_down

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
log = logging.getLogger(__name__)

CALLER = web.RequestKey("caller", str)
"""The name of the caller whose key the request has; empty where nobody needs one."""
_TOLD = web.RequestKey("told", dict)
_PROBES = ("/healthz", "/readyz")
_PREFIX = "bearer "


def tell(request: web.Request, **told: Any) -> None:
    """Has the log say this of the request when it is over."""
    request.setdefault(_TOLD, {}).update(told)


async def read_body(request: web.Request) -> bytes:
    """The body. Raises ApiError where it is too long, or does not come."""
    proxy = request.app[PROXY]
    limits = proxy.config.limits
    try:
        async with asyncio.timeout(limits.stall_ms / 1000):
            return await request.read()
    except web.HTTPRequestEntityTooLarge:
        text = f"The body is longer than {limits.request_bytes} bytes."
        raise ApiError(413, "request_too_large", text) from None
    except TimeoutError:
        raise ApiError(408, "request_timeout", "The body did not come in time.") from None


@web.middleware
async def logged(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Has a line in the log for every request but probes."""
    begun, status = time.monotonic(), 499
    try:
        response = await handler(request)
        status = response.status
        return response
    finally:
        if request.path not in _PROBES:
            told = {"method": request.method, "path": request.path[:200], "status": status}
            told["ms"] = round((time.monotonic() - begun) * 1000)
            log.info("request", extra={"told": {**told, **request.get(_TOLD, {})}})


@web.middleware
async def errors_shaped(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answers errors as OpenAI shapes them; a fault of the proxy's own is logged and tells nothing."""
    try:
        return await handler(request)
    except ApiError as error:
        told = error
    except web.HTTPMethodNotAllowed as wrong:
        text = f"{request.path} takes {' or '.join(sorted(wrong.allowed_methods))}, not {request.method}."
        told = ApiError(
            405, "method_not_allowed", text, more_headers={"Allow": ", ".join(sorted(wrong.allowed_methods))}
        )
    except web.HTTPException as wrong:
        told = ApiError(wrong.status, wrong.reason.lower().replace(" ", "_"), wrong.reason)
    except asyncio.CancelledError:
        if not request.app[PROXY].traffic.cutting:
            raise  # the client is gone
        told = shutting_down()
    except Exception:
        log.exception("fault")
        told = ApiError(500, "internal_error", "The proxy met a fault of its own; its log says more.")
    tell(request, error=told.code)
    return web.Response(status=told.status, body=told.body(), headers=told.headers)


@web.middleware
async def callers_known(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Lets nobody in without a key, where keys are needed. Raises ApiError."""
    proxy = request.app[PROXY]
    if request.path in _PROBES:
        return await handler(request)
    request[CALLER] = ""
    if proxy.keys is not None:
        said = request.headers.get("Authorization", "")
        key = said[len(_PREFIX) :].strip() if said.lower().startswith(_PREFIX) else ""
        caller = proxy.keys.caller(key)
        if caller is None:
            text = "This key is not known here." if key else "An API key is needed: Authorization: Bearer KEY."
            raise ApiError(401, "invalid_api_key", text, more_headers={"WWW-Authenticate": "Bearer"})
        request[CALLER] = caller
        tell(request, caller=caller)
    with proxy.traffic.one_more():
        return await handler(request)
