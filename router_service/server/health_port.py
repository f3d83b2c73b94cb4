"""The health port: grpc.health.v1 and nothing else, for probes that know no TLS, no token and no Unix socket."""

from __future__ import annotations

import grpc
from grpc_health.v1 import health, health_pb2_grpc

from router_service.server.listen import Address, bind

_OPTIONS = (
    ("grpc.max_receive_message_length", 1024),  # the name of a service
    ("grpc.max_concurrent_streams", 16),
)


class HealthPort:
    """What the server itself says of its health, in plain gRPC. It tells nobody more than whether there is service."""

    def __init__(self, answers: health.aio.HealthServicer, *, shares_port: bool = False) -> None:
        """`shares_port` is whether other workers answer there too."""
        self._shares_port = shares_port
        self._server = grpc.aio.server(options=(*_OPTIONS, ("grpc.so_reuseport", int(shares_port))))
        health_pb2_grpc.add_HealthServicer_to_server(answers, self._server)

    async def start(self, address: Address) -> str:
        """Listens, and returns how probes reach it. Raises AddressError."""
        reached = bind(self._server, address, claimed=self._shares_port)
        await self._server.start()
        return reached

    async def stop(self) -> None:
        """Ends it, and whoever watches."""
        await self._server.stop(None)
