"""CatalogService: what is served now."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from typing import Any

import grpc

from router_service import sight
from router_service.asks import InvalidRequest
from router_service.catalog.served import Served
from router_service.catalog.slices import unhurried
from router_service.domain.caller import Caller
from router_service.domain.problems import PAGE_SIZE, Problem
from router_service.engine.bits import positions
from router_service.health.shared import SharedHealth
from router_service.router import Router
from router_service.server.admission import Context
from router_service.server.rpc import Calls
from router_service.v1 import catalog_service_pb2 as pb
from router_service.wire.read import parse
from router_service.wire.served import write_served
from router_service.wire.write import watch_response, write_policy, write_workload

PAGE_DEFAULT = 100
PAGE_MAX = 1000


_Listing = pb.ListEndpointsRequest | pb.ListPoliciesRequest | pb.ListWorkloadsRequest
SERVICE = pb.DESCRIPTOR.services_by_name["CatalogService"].full_name


class CatalogServicer:
    """Lists in the order of ids, so that a page after a reload goes on where the one before it ended."""

    def __init__(
        self, router: Router, served: Served, calls: Calls, clock: Callable[[], int], health: SharedHealth
    ) -> None:
        self._router, self._served, self._calls, self._clock, self._health = router, served, calls, clock, health

    def handlers(self) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
        """The methods by name; messages are read in wire, so that bytes that are none get a clear answer."""
        return {
            "ListEndpoints": grpc.unary_unary_rpc_method_handler(
                self._calls.unary("ListEndpoints", self._list_endpoints)
            ),
            "ListPolicies": grpc.unary_unary_rpc_method_handler(self._calls.unary("ListPolicies", self._list_policies)),
            "ListWorkloads": grpc.unary_unary_rpc_method_handler(
                self._calls.unary("ListWorkloads", self._list_workloads)
            ),
            "WatchCatalog": grpc.unary_stream_rpc_method_handler(self._watch_catalog),
        }

    async def _watch_catalog(self, _raw: bytes, context: Context) -> AsyncIterator[bytes]:
        # The request has no field, so whatever it holds says nothing.
        async with self._calls.stream("WatchCatalog", context) as stream:
            async for snapshot in stream.told(self._served.versions()):
                who = stream.caller()
                seen = self._router.endpoints(who, snapshot).bit_count()
                yield watch_response(who, snapshot, seen).SerializeToString()

    async def _list_endpoints(self, caller: Caller, raw: bytes) -> bytes:
        request = parse(pb.ListEndpointsRequest, raw)
        async with self._calls.admission.lane("ListEndpoints", caller) as pause_s:
            return await unhurried(self._endpoints(caller, request), pause_s)

    def _endpoints(self, caller: Caller, request: pb.ListEndpointsRequest) -> Generator[None, None, bytes]:
        snapshot, now = self._router.catalog(), self._clock()
        seen = [*positions(self._router.endpoints(caller, snapshot))]
        endpoints = snapshot.index.endpoints
        start, end, token = _page(request, [endpoints[at].endpoint_id for at in seen])
        served = []
        for at in seen[start:end]:
            served.append(write_served(snapshot, at, self._health.board, now))
            yield
        return pb.ListEndpointsResponse(
            endpoints=served,
            next_page_token=token,
            catalog_version=snapshot.version,
        ).SerializeToString()

    def _list_policies(self, caller: Caller, raw: bytes) -> bytes:
        request = parse(pb.ListPoliciesRequest, raw)
        snapshot = self._router.catalog()
        policies = sight.policies(caller, snapshot)
        ids = list(policies)
        start, end, token = _page(request, ids)
        return pb.ListPoliciesResponse(
            policies=[write_policy(policies[policy_id]) for policy_id in ids[start:end]],
            next_page_token=token,
            catalog_version=snapshot.version,
            default_policy=sight.default_policy(caller, snapshot),
        ).SerializeToString()

    def _list_workloads(self, caller: Caller, raw: bytes) -> bytes:
        request = parse(pb.ListWorkloadsRequest, raw)
        snapshot = self._router.catalog()
        workloads = sight.workloads(caller, snapshot)
        places = list(workloads)
        start, end, token = _page(request, places)
        return pb.ListWorkloadsResponse(
            workloads=[write_workload(workloads[place]) for place in places[start:end]],
            next_page_token=token,
            catalog_version=snapshot.version,
        ).SerializeToString()


def _page(request: _Listing, ids: Sequence[str]) -> tuple[int, int, str]:
    """(start, end, next_page_token) of the asked page of `ids`, which are sorted by their bytes.

    A token holds the last id of the page before it. Raises InvalidRequest with every problem.
    """
    problems = []
    if request.page_size > PAGE_MAX:
        cure = f"ask for at most {PAGE_MAX}, or 0 for {PAGE_DEFAULT}"
        problems.append(Problem("page_size", f"{request.page_size} is too many", cure, PAGE_SIZE))
    try:
        after = base64.b64decode(request.page_token.encode(), altchars=b"-_", validate=True)
        after.decode()
    except (binascii.Error, UnicodeError):
        cure = "use the next_page_token of a page as it is, or none"
        problems.append(Problem("page_token", "it was not made here", cure))
    if problems:
        raise InvalidRequest(problems)
    start = bisect_right(ids, after, key=str.encode) if after else 0
    end = min(start + (request.page_size or PAGE_DEFAULT), len(ids))
    token = base64.urlsafe_b64encode(ids[end - 1].encode()).decode() if start < end < len(ids) else ""
    return start, end, token
