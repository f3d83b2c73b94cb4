"""The ports of a server: gRPC's own addresses, and beside them the admin port and the health port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import grpc

from router_service.server.admin import AdminPort
from router_service.server.health_port import HealthPort
from router_service.server.identity.tls import Certificates
from router_service.server.listen import MTLS, PLAIN, TLS, Address, AddressError, bind

# What is said of an address beside how clients reach it.
_SPOKEN = {PLAIN: "", TLS: " (TLS)", MTLS: " (TLS, clients' certificates)"}


@dataclass(slots=True)
class Ports:
    """Where a server is reached. `claimed` is whether a supervisor holds these ports for several workers."""

    addresses: tuple[Address, ...]
    admin: Address | None
    health: Address | None
    claimed: bool
    log: Any
    _admin_server: asyncio.Server | None = None
    _health_port: HealthPort | None = None

    def bind(self, server: grpc.aio.Server, certificates: Certificates | None) -> list[str]:
        """Binds gRPC's addresses; how clients reach them. Raises AddressError."""
        return [self._bind(server, one, certificates) + _SPOKEN[one.security] for one in self.addresses]

    async def open_beside(
        self,
        metrics: Callable[[], Awaitable[bytes]],
        is_serving: Callable[[], bool],
        health: grpc.GenericRpcHandler,
    ) -> None:
        """Opens the others, as far as there are any. Raises AddressError."""
        if self.admin is not None:
            page, address = AdminPort(metrics, is_serving), self.admin
            try:
                self._admin_server, port = await page.start(address.host, address.port)
            except OSError as error:
                raise AddressError(f"{address.text}: cannot listen there; is the port in use?") from error
            self.log.info("admin port", address=f"{address.host}:{port}")
        if self.health is not None:
            self._health_port = HealthPort(health, shares_port=self.claimed)
            self.log.info("health port", address=await self._health_port.start(self.health))

    async def close_beside(self) -> None:
        """Closes them."""
        if self._admin_server is not None:
            self._admin_server.close()
        if self._health_port is not None:
            await self._health_port.stop()

    def _bind(self, server: grpc.aio.Server, address: Address, certificates: Certificates | None) -> str:
        credentials = None
        if address.security != PLAIN and certificates is not None:
            credentials = certificates.credentials(mutual=address.security == MTLS)
        return bind(server, address, credentials, claimed=self.claimed)
