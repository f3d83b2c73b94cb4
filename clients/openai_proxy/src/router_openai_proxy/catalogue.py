"""What the service's catalogue says of where endpoints are called, and what they call their models."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import grpc

from router_openai_proxy.backends import Backends, Listed
from router_service_client.v1.catalog_service_pb2 import ListEndpointsRequest, ListEndpointsResponse
from router_service_client.v1.catalog_service_pb2_grpc import CatalogServiceStub

log = logging.getLogger(__name__)

PAGE = 1000


class Catalogue:
    """Tells the backends what the catalogue says, once for each version; the service asks for the role `read`."""

    def __init__(
        self, channel: grpc.aio.Channel, metadata: Callable[[], Any], timeout: float, backends: Backends
    ) -> None:
        self._stub = CatalogServiceStub(channel)
        self._metadata = metadata
        self._timeout = timeout
        self._backends = backends
        self._version = ""

    async def follow(self, version: str) -> None:
        """Sees to it that this version, or a newer one, is known; else the last one goes on being used."""
        if version == self._version:
            return
        try:
            listed, found = await self._read()
        except grpc.RpcError as wrong:
            log.warning("addresses and upstream models of the catalogue are not known: %s", wrong.details())
            return
        self._backends.know(listed)
        self._version = found

    async def _read(self) -> tuple[dict[str, Listed], str]:
        """All endpoints, and the version that they are of; from the beginning where another one came meanwhile."""
        listed: dict[str, Listed] = {}
        asked, version = ListEndpointsRequest(page_size=PAGE), ""
        while True:
            page: ListEndpointsResponse = await self._stub.ListEndpoints(
                asked, timeout=self._timeout, metadata=self._metadata()
            )
            if version and page.catalog_version != version:
                listed, version, asked.page_token = {}, "", ""
                continue
            version = page.catalog_version
            for one in page.endpoints:
                listed[one.endpoint.endpoint_id] = Listed(one.endpoint.address.rstrip("/"), one.endpoint.upstream_model)
            if not page.next_page_token:
                return listed, version
            asked.page_token = page.next_page_token
