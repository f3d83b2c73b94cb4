"""Everything but completions: the models, the probes, and what is not served here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from router_openai_proxy.asking.asked import named
from router_openai_proxy.asking.router_headers import read_headers
from router_openai_proxy.errors import ApiError, bad_request
from router_openai_proxy.middlewares import CALLER
from router_openai_proxy.outcomes import error_of_router
from router_openai_proxy.proxy import PROXY
from router_service_client import RouterError
from router_service_client.v1.explanation_pb2 import EndpointExplanation

_SERVED = "This proxy serves POST /v1/chat/completions and GET /v1/models"
# Why a path of OpenAI's API is not here.
_NOT_HERE: Mapping[str, str] = {
    "embeddings": "only text models are routed, so no decision can be made for embeddings",
    "responses": "its events and its stored state are not those of chat completions; use chat.completions",
    "completions": "use chat.completions, with the prompt as a message",
}


async def models(request: web.Request) -> web.Response:
    """The models that the caller's policy can reach, best first as a plain request would rank them."""
    return web.json_response({"object": "list", "data": await _models(request)})


async def model(request: web.Request) -> web.Response:
    """One of them. Raises ApiError."""
    name = request.match_info["model"]
    found = next((one for one in await _models(request) if one["id"] == name), None)
    if found is None:
        raise ApiError(404, "model_not_found", f"The policy reaches no model {name}.", param="model")
    return web.json_response(found)


async def _models(request: web.Request) -> list[dict[str, Any]]:
    proxy = request.app[PROXY]
    said = read_headers(request.headers)
    if said.problems:
        raise bad_request(said.problems)
    policy_id, workload = named(said.said, proxy.access(request[CALLER]))
    try:
        reached = await proxy.reach.of(policy_id, workload, said.said.get("data_class", ""))
    except RouterError as wrong:
        raise error_of_router(wrong) from wrong
    by_model: dict[str, list[EndpointExplanation]] = {}
    for one in reached.endpoints:
        by_model.setdefault(one.model, []).append(one)
    pool = [_model("auto", "router-service", reached.endpoints)] if by_model else []
    return pool + [_model(slug, endpoints[0].provider, endpoints) for slug, endpoints in by_model.items()]


def _model(name: str, owner: str, endpoints: Any) -> dict[str, Any]:
    """In OpenAI's shape, where `created` is a number that nobody knows here, with the endpoints beside it."""
    told = [
        {
            "endpoint_id": one.endpoint_id,
            "provider": one.provider or None,
            "region": one.region or None,
            "country": one.country or None,
            "sovereignty": one.sovereignty or None,
            "available": not one.refused_by,
        }
        for one in endpoints
    ]
    return {"id": name, "object": "model", "created": 0, "owned_by": owner, "router": {"endpoints": told}}


async def alive(_request: web.Request) -> web.Response:
    """Whether the process answers."""
    return web.json_response({"status": "ok"})


async def ready(request: web.Request) -> web.Response:
    """Whether requests should come here: it is not on its way out, and the router-service decides."""
    proxy = request.app[PROXY]
    why = "draining" if proxy.traffic.draining else "" if await proxy.service_is_ready() else "router_unavailable"
    return web.json_response({"status": why or "ok"}, status=503 if why else 200)


async def not_here(request: web.Request) -> web.StreamResponse:
    """What OpenAI has and this has not. Raises ApiError."""
    path = request.match_info["path"]
    why = _NOT_HERE.get(path.partition("/")[0])
    text = f"{_SERVED}; {request.method} /v1/{path} is not served{': ' + why if why else ''}."
    raise ApiError(404, "not_served", text)
