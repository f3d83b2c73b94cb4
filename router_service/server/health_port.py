"""The health port: grpc.health.v1 and nothing else, for probes that know no TLS, no token and no Unix socket."""

from __future__ import annotations

import grpc

from router_service.server.limits import PORT_CONNECTIONS, PORT_IDLE_S, PROBE_BYTES, transport_options
from router_service.server.listen import Address, bind

STREAMS_EACH = 16


class HealthPort:
    """What the server itself says of its health, in plain gRPC. It tells nobody more than whether there is service."""

    def __init__(self, health: grpc.GenericRpcHandler, *, shares_port: bool = False) -> None:
        """`shares_port` is whether other workers answer there too."""
        self._shares_port = shares_port
        options = transport_options(
            PORT_CONNECTIONS, PROBE_BYTES, shares_port=shares_port, streams_each=STREAMS_EACH, idle_s=PORT_IDLE_S
        )
        self._server = grpc.aio.server(options=options)
        self._server.add_generic_rpc_handlers([health])

    async def start(self, address: Address) -> str:
        """Listens, and returns how probes reach it. Raises AddressError."""
        reached = bind(self._server, address, claimed=self._shares_port)
        await self._server.start()
        return reached

    async def stop(self) -> None:
        """Ends it, and whoever watches."""
        await self._server.stop(None)
